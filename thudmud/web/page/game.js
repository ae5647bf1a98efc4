/**
 * A board that is played at or watched: the players, the moves, and what can be done.
 */

import { isOfAnalysis } from "./analysis.js";
import { say, untoast, warn } from "./announce.js";
import { BoardView } from "./board.js";
import { showChoice } from "./choice.js";
import { confirmed, share } from "./dialogs.js";
import {
  CLICK,
  HAS_KEYS,
  byId,
  capitalised,
  counted,
  dotted,
  entitle,
  fill,
  h,
  hasFeature,
  rulesTitle,
  timeLeftText,
  token,
} from "./dom.js";
import { Explorer, isOfExplorer } from "./explorer.js";
import { isFocusGone } from "./focus.js";
import { LessonView, exerciseTitle } from "./lesson.js";
import { MoveList, asOf, positionLabel, tools } from "./moves.js";
import { Mover } from "./mover.js";
import { count } from "./position.js";
import { Premove } from "./premove.js";
import { ResultCard } from "./result.js";
import { AIMS, openRules } from "./rules.js";
import { change, isTurned, settings } from "./settings.js";
import { ShareMenu, openPictures, openSnippet, shareItems } from "./sharing.js";
import { play } from "./sound.js";
import { holder, isByDays, titleOf } from "./state.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Table} Table */
/** @typedef {import("./state.js").Board} Board */

/**
 * @typedef {object} Action a button
 * @property {string} label
 * @property {string} line the command that it types
 * @property {string} [question] what it asks first
 * @property {boolean} [isFirst] whether it is what most will do next
 * @property {string} [refused] why it can't be done now; nothing if it can
 * @property {boolean} [accepts] whether it accepts what another player offers
 */

const SHORT = 20; // seconds
const TICK = 100; // milliseconds
const REST = 800; // milliseconds in which a click is meant for the board that was in view before
/** Where the buttons below a battle have one row, and a menu for the others. */
const SMALL = matchMedia("(max-width: 40rem), (max-height: 34rem)");
const IN_MENU = ["Offer to end", "Adjourn"];

const PLURAL = { dwarf: "dwarfs", troll: "trolls" };

/** Keys on the board, and what they ask the server. */
const QUESTIONS = /** @type {Record<string, (square: string) => string>} */ ({
  t: () => "where trolls",
  d: () => "where dwarfs",
  r: () => "where rock",
  s: (square) => `scan row ${square.slice(1)}`,
  c: (square) => `scan column ${square[0]}`,
  a: (square) => `around ${square}`,
  m: (square) => `moves ${square}`,
  x: () => "captures",
  l: () => "last",
});

/** Keys on the board, and the verbs of the buttons that they press. */
const PRESSES = /** @type {Record<string, string>} */ ({ h: "hint", u: "undo" });

export class GameView {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   * @param {(line: string) => void} outside.ask asks what a command tells, as a fact alone
   * @param {(battle: number) => void} outside.askRecord asks for the plies of a battle
   * @param {(where: import("./explorer.js").Where) => void} outside.explore asks what others played
   * @param {(line: string) => void} outside.question sends a command, and shows the answer
   * @param {(sentence: string) => void} outside.note adds something to the log
   * @param {() => boolean} outside.isConnected whether the server takes commands
   * @param {() => boolean} outside.isHeard whether the server answers, as far as is known
   */
  constructor(state, outside) {
    this.state = state;
    this.outside = outside;
    this.name = "";
    /** What was shown last of a second battle that begins by itself. */
    this.soon = "";
    /** The tournament, and the battle before the second one, of which we have asked. */
    this.askedOf = "";
    /** @type {number | null} */
    this.at = null; // the ply that is looked back at; null is now
    this.filledIn = "";
    /** In which battle we have warned of a short time. @type {number | null} */
    this.warned = null;
    /** Since when the clocks can't be known, as the connection is lost. @type {number | null} */
    this.lostAt = null;
    /** The battle, or the lesson and step, in which the focus of the board was put on a piece. */
    this.pointedIn = "";
    /** The square that a lesson begins with. */
    this.start = "";
    /** Whether the clock was stopped when that was said last. */
    this.stood = false;
    /** Until when clicks are ignored, as they were meant for another board. */
    this.restsUntil = 0;
    /** The last `Thud.Legal` about a piece, by its square. @type {Map<string, any>} */
    this.legal = new Map();
    /** The command of the button that was pressed last. */
    this.pressed = "";
    /** The command for a hint that hasn't come yet, and the moves that were played before it. */
    this.hinting = { line: "", ply: 0 };
    this.mover = new Mover({
      ask: (board, from) => this.askMoves(board, from),
      send: outside.send,
      show: (marks) => {
        if (this.premove.selected) return; // nothing else is being chosen
        this.view.mark(marks);
        showChoice(byId("choice"), this.mover, Boolean(this.state.tables.get(this.name)?.clock));
      },
      whose: (piece) => this.whose(piece),
    });
    this.premove = new Premove({
      ask: (board, from) => outside.ask(`moves ${from.toLowerCase()} on ${board}`),
      show: (marks) => this.view.mark(marks),
    });
    this.view = new BoardView(byId("board"), {
      pick: (where) => this.isLive() && this.chooser.pick(where),
      lift: (square) => this.isLive() && this.chooser.lift(square),
      drop: (where) => this.chooser.drop(where),
      key: (key, square) => this.key(key, square),
    });
    this.moves = new MoveList(byId("moves"), (ply) => this.step(ply));
    this.lesson = new LessonView(byId("lesson"), outside.send);
    this.explorer = new Explorer(byId("explorer"), state, outside.explore);
    this.share = new ShareMenu(byId("share"), () => this.shared());
    /** What is in that menu for want of room. @type {Action[]} */
    this.inMenu = [];
    SMALL.addEventListener("change", () => this.show(this.name));
    this.result = new ResultCard(/** @type {Element} */ (byId("board").parentElement), () => this.resultClosed());
    /** Battles that we have seen under way. @type {Set<number>} */
    this.underWay = new Set();
    state.on("Thud.Me", () => (this.filledIn = ""));
    state.on("Thud.Legal", (legal) => {
      this.legal.set(legal.from, legal);
      this.mover.answered(legal);
      this.premove.answered(legal);
    });
    byId("board").addEventListener("contextmenu", (/** @type {PointerEvent} */ event) => {
      if (!this.premove.selected || event.pointerType === "touch") return; // a long press
      event.preventDefault();
      this.premove.cancel("Premove cancelled.");
    });
    state.on("Thud.Refused", (refused) => {
      if (!isOfExplorer(refused) && !isOfAnalysis(refused)) this.mover.cancel();
    });
    for (const answer of ["Thud.Hint", "Thud.Refused"])
      state.on(answer, () => (this.hinting.line = ""));
    state.on("Thud.Exercise", ({ remarks }) => {
      const isAskedAgain = remarks.includes("wrong") || remarks.includes("fewer");
      if (isAskedAgain && this.mover.isSent) this.mover.cancel(); // nothing was played
    });
    setInterval(() => this.tick(), TICK);
  }

  /**
   * Show a board.
   *
   * @param {string} name
   */
  show(name) {
    if (name !== this.name) {
      this.name = name;
      this.at = null;
    }
    const table = this.state.tables.get(name);
    const board = this.state.boards.get(name) ?? null;
    const exercise = this.exercise(name);
    const title = exercise ? exerciseTitle(exercise) : titleOf(table, name);
    entitle("game", title);
    if (!board || !table) return;
    const hadFocus = byId("game").contains(document.activeElement);
    this.view.flip(settings.flipped);
    this.fillIn(table, board);
    const ahead = this.premoveSide(table, board);
    const planned = this.premove.follow(board, ahead, this.state.mover(name) !== null);
    if ((this.at !== null && this.at >= board.ply) || planned) this.at = null;
    const { position, last } = this.at === null ? board : asOf(board, this.at);
    const label = `${title}, ${this.turnWords(table, board)}`;
    this.lesson.show(exercise);
    this.view.name(this.lesson.squares);
    const hint = this.at === null ? board.hint : null;
    this.view.show(position, last, label, hint);
    this.view.annotate(hint ? threatsOf(hint) : []);
    this.pointAtOwn(table, board);
    this.view.element.classList.toggle("mine", this.state.mover(name) !== null);
    this.view.element.classList.toggle("ahead", ahead !== null);
    this.view.element.classList.toggle("past", this.at !== null);
    this.mover.set(
      this.at === null ? board : null,
      this.at === null ? this.state.mover(name) : null,
    );
    if (planned) this.mover.playPremove(planned);
    this.askTournament(table);
    fill(byId("game-facts"), ...dotted(this.facts(table, board)));
    this.showPlayers(table, board, position);
    this.soon = this.secondBattle(table);
    this.showResult(table, board);
    this.showNotices(table, board);
    this.showActions(table, board);
    this.showBrief(table, board);
    this.showSteps(board);
    this.explore(table, board);
    this.moves.show(board.plies, this.at ?? board.ply); // the last, since it has what room is left
    this.keepFocus(hadFocus);
  }

  /**
   * Put the focus on the result that has just come, or on the board if it was on a button that has
   * gone. A battle that begins gets it with its position.
   *
   * @param {boolean} hadFocus whether it was on something of the game
   */
  keepFocus(hadFocus) {
    const isLost = hadFocus && isFocusGone();
    if (this.result.takeFocus(isLost) || !isLost) return;
    if (this.state.isCurrent(this.name)) this.focus();
  }

  /**
   * Return the lesson or the puzzle whose board this is.
   *
   * @param {string} name
   */
  exercise(name) {
    const { exercise } = this.state;
    return exercise?.board === name ? exercise : null;
  }

  /**
   * Ask where a piece may go: as if it was typed, if a lesson wants that.
   *
   * @param {string} board
   * @param {string} from
   */
  askMoves(board, from) {
    const line = `moves ${from.toLowerCase()}`;
    const known = this.legal.get(from);
    const isCurrent = known?.board === board && known.version >= Number(this.mover.board?.version);
    if (this.lesson.commands.includes(line)) this.outside.send(line);
    else if (isCurrent) queueMicrotask(() => this.mover.answered(known));
    else this.outside.ask(`${line} on ${board}`);
  }

  /** What is clicked and dragged goes to: a premove while it is the opponent's turn. */
  get chooser() {
    return this.premove.side ? this.premove : this.mover;
  }

  /**
   * Return the side that may choose a premove, if it is the opponent's turn.
   *
   * @param {Table} table
   * @param {Board} board
   */
  premoveSide(table, board) {
    const [side, other] = this.state.sides(table);
    const isWaiting = table.running && board.turn !== null && board.turn !== side;
    if (!side || other || !isWaiting || this.exercise(board.board)) return null;
    return settings.premoves && this.outside.isConnected() ? side : null;
  }

  /** Return to the current position, or give up what was being chosen. */
  escape() {
    if (this.at !== null) this.step(Infinity);
    else if (this.premove.target) this.premove.cancel("Premove cancelled.");
    else if (this.chooser.selected) this.chooser.cancel("Cancelled.");
  }

  /** Put the focus on the board: at first on the piece that a lesson names. */
  focus() {
    this.view.point(this.start || this.view.focus);
  }

  /**
   * Begin at what a lesson names, or at a piece of the player's own when a battle begins.
   *
   * @param {Table} table
   * @param {Board} board
   */
  pointAtOwn(table, board) {
    const exercise = this.exercise(board.board);
    const place = exercise ? `${exercise.number} ${exercise.step}` : String(board.battle);
    if (place === this.pointedIn || !this.state.isCurrent(board.board)) return;
    const [side] = this.state.sides(table);
    const own = [...board.position].flatMap(([square, piece]) => (piece === side ? [square] : []));
    const named = [...this.lesson.squares];
    const isNext = exercise && this.pointedIn.startsWith(`${exercise.number} `);
    const start = named.find((each) => own.includes(each)) ?? named[0] ?? (isNext ? "" : own[0]);
    this.start = named.length ? start : "";
    if (!start) return;
    this.pointedIn = place;
    this.view.point(start, this.view.hasFocus());
  }

  /** Ignore clicks for a moment: another board has come under them. */
  rest() {
    this.restsUntil = performance.now() + REST;
    this.view.putBack();
  }

  /** Whether the board takes moves; if it doesn't, tell a player why. */
  isLive() {
    if (performance.now() < this.restsUntil) return false;
    const why = !this.outside.isConnected()
      ? "No connection: moves have to wait until it is back."
      : this.at !== null
        ? `This is an earlier position. Press ${HAS_KEYS ? "Esc or " : ""}“Last move” to return.`
        : "";
    if (why && this.state.sides(this.state.tables.get(this.name)).length) warn(why);
    return !why;
  }

  /**
   * Return why the player can't move a piece now, as a sentence; nothing to those who watch.
   *
   * @param {string} piece
   */
  whose(piece) {
    const table = this.state.tables.get(this.name);
    const [mine, other] = this.state.sides(table);
    if (!mine || !table?.running) return "";
    if (piece === "stone") return "That’s the Thudstone. Nobody can move it.";
    const isMine = this.mover.side !== null || other !== undefined;
    if (!isMine) return "It’s not your turn.";
    if (other) return `It’s the ${PLURAL[mine === piece ? other : mine]}’ turn.`;
    if (piece === "rock") return `That’s the Rock. You play the ${PLURAL[mine]}.`;
    const owner = table.seats.find(({ side }) => side !== mine)?.player;
    return `That’s ${owner ? `${owner}’s` : "a"} ${piece}. You play the ${PLURAL[mine]}.`;
  }

  /** @param {number} ply */
  step(ply) {
    const board = this.state.boards.get(this.name);
    if (!board) return;
    const first = (board.plies[0]?.ply ?? board.ply + 1) - 1;
    this.at = ply >= board.ply ? null : Math.max(first, ply);
    this.show(this.name);
    const { at } = this;
    if (at === null) untoast("This is an earlier position");
    const last = board.plies.find((each) => each.ply === at) ?? null;
    const label = at === null ? "The current position." : positionLabel(last, at);
    say(this.moves.hasFocus() ? "" : label);
  }

  /** @param {number} plies how many to go on, or back */
  move(plies) {
    const board = this.state.boards.get(this.name);
    if (board) this.step((this.at ?? board.ply) + plies);
  }

  /**
   * Ask for the plies and the result that were told before we came.
   *
   * @param {Table} table
   * @param {Board} board
   */
  fillIn(table, board) {
    const wanted = `${board.board} ${board.battle}`;
    const isKnown = board.plies.length === board.ply && (board.end || !isOver(table, board));
    if (board.battle === null || isKnown || this.filledIn === wanted) return;
    this.filledIn = wanted;
    this.outside.askRecord(board.battle);
  }

  // Words.

  /**
   * @param {Table} table
   * @param {Board} board
   */
  turnWords(table, board) {
    if (!table.running || !board.turn) return isOver(table, board) ? "the battle is over" : "no battle yet";
    const mine = this.state.sides(table).includes(board.turn);
    return mine ? `your turn, ${PLURAL[board.turn]}` : `${PLURAL[board.turn]} to move`;
  }

  /**
   * @param {Table} table
   * @param {Board} board
   */
  facts(table, board) {
    const name = capitalised(board.board);
    const click = () => openRules(table.rules);
    /** @type {(string | Node)[]} */
    const facts = [h("button", { type: "button", click }, `${rulesTitle(table.rules)} rules`)];
    const exercise = this.exercise(board.board);
    if (exercise) return exercise.step ? [...facts, `step ${exercise.step} of ${exercise.steps}`] : facts;
    if (titleOf(table, name) !== name) facts.unshift(name);
    if (table.tournament) facts.unshift(this.tournamentLink(table));
    if (table.time) facts.push(table.time);
    if (table.running && table.seats[0].player === table.seats[1].player)
      facts.push("practice");
    else if (table.running)
      facts.push(`battle ${table.part} of 2`, table.rated ? "rated" : "casual");
    if (this.state.observed.includes(board.board))
      facts.push(this.state.tv.board === board.board ? "on your TV" : "you observe it");
    if (board.ply) facts.push(counted(board.ply, "move"));
    return facts;
  }

  // The tournament of a match.

  /**
   * Ask what the tournament of a match is called, and players when their second battle begins.
   *
   * @param {Table} table
   */
  askTournament(table) {
    const { tournament, battle } = table;
    const isWaiting = this.isBetween(table) && this.state.sides(table).length > 0;
    if (!tournament || (this.state.tournaments.has(tournament) && !isWaiting)) return;
    const asked = `${tournament} ${isWaiting ? battle : ""}`;
    if (asked === this.askedOf) return;
    this.askedOf = asked;
    this.outside.ask(`tournament ${tournament}`);
  }

  /**
   * @param {Table} table
   * @param {string} [kind]
   */
  tournamentLink({ tournament, round }, kind = "") {
    const title = this.state.tournamentTitle(Number(tournament));
    const words = kind ? `Back to ${title}` : `${title}, round ${round}`;
    return h(`a${kind}`, { href: `/tournament/${tournament}` }, words);
  }

  /**
   * Whether the first battle of a match is over, and the second has not begun.
   *
   * @param {Table} table
   */
  isBetween({ running, over, part }) {
    return part === 1 && !running && !over;
  }

  /**
   * Return when the second battle of a tournament's match begins by itself, as a sentence.
   *
   * @param {Table} table
   */
  secondBattle(table) {
    if (!this.isBetween(table)) return "";
    const { matches = [] } = this.state.crosstables.get(table.tournament ?? 0) ?? {};
    const { next_at = null } = matches.find((/** @type {any} */ each) => each.board === table.board) ?? {};
    if (next_at === null) return "";
    const seconds = Math.round(next_at + this.state.skew - Date.now() / 1000);
    return seconds > 0 ? `The second battle begins in ${counted(seconds, "second")}.` : "";
  }

  // The players.

  /**
   * @param {Table} table
   * @param {Board} board
   * @param {import("./position.js").Position} position what is seen of it
   */
  showPlayers(table, board, position) {
    const mine = this.state.sides(table);
    const isTrollBelow = (mine.length === 1 && mine[0] === "troll") !== isTurned();
    const below = isTrollBelow ? "troll" : "dwarf";
    const above = isTrollBelow ? "dwarf" : "troll";
    for (const [strip, side] of /** @type {const} */ ([["top", above], ["bottom", below]])) {
      const host = byId(`strip-${strip}`);
      fill(host, ...this.player(side, table, board, position));
      host.setAttribute("aria-label", stripName(table, side));
    }
  }

  /**
   * @param {Side} side
   * @param {Table} table
   * @param {Board} board
   * @param {import("./position.js").Position} position
   */
  player(side, table, board, position) {
    const seat = table.seats.find((each) => each.side === side);
    const isAsked = this.exercise(board.board)?.task !== null; // else nothing is to be done
    const isOn = table.running && board.turn === side && isAsked;
    const points = this.points(side, table, board);
    const isSecond = table.running && table.part === 2;
    const mine = Boolean(seat?.player) && seat?.player === this.state.me.player;
    return [
      token(side),
      h("span.name", {}, holder(seat), mine && h("small", {}, " you")),
      Boolean(seat?.away_since) && h("span.badge", {}, "away"),
      isOn && h("span.badge.turn", {}, "to move"),
      h("span.left", {}, `${count(position, side)}`, h("small", {}, " left")),
      table.part !== null &&
        h(
          `span.points${isSecond ? ".sum" : ""}`,
          {},
          isSecond
            ? `${points} from battle 1`
            : table.part === 2
              ? `${points} in the match`
              : counted(points, "point"),
        ),
      table.clock &&
        h(
          "time.clock",
          { "data-side": side, role: "timer", "aria-label": `${holder(seat)}’s time` },
          timeLeftText(this.clock(table.clock, side).left),
        ),
    ];
  }

  /**
   * Return what a side has in the position in view, or from the battles of the match before.
   *
   * @param {Side} side
   * @param {Table} table
   * @param {Board} board
   */
  points(side, table, board) {
    if (!table.running || table.part !== 1) return table.points[side];
    const { score } = board.plies.find((each) => each.ply === this.at) ?? board;
    return score ? score[side] : 0;
  }

  /**
   * Return the seconds that a side has left, and whether its time runs.
   *
   * @param {import("./state.js").Clock} clock
   * @param {Side} side
   */
  clock(clock, side) {
    const turn = clock.runs ?? this.state.boards.get(this.name)?.turn;
    const since = clock.runs ? clock.at : clock.stands_until;
    const now = (this.lostAt ?? Date.now()) / 1000 - this.state.skew; // by the server's clock
    const gone = turn === side && since !== null ? Math.max(0, now - since) : 0;
    return { left: Math.max(0, clock[side] - gone), runs: clock.runs === side || gone > 0 };
  }

  /** Let the clocks run. */
  tick() {
    const table = this.state.tables.get(this.name);
    const isTimed = table?.clock && table.running && this.state.sides(table).length && !isByDays(table.time);
    const isThere = this.outside.isConnected() && (!isTimed || this.outside.isHeard());
    const isPaused = !isThere && this.state.me.player !== null;
    this.lostAt = isPaused ? (this.lostAt ?? Date.now()) : null;
    if (table && this.secondBattle(table) !== this.soon) this.show(this.name);
    if (!table?.clock) return;
    const board = this.state.boards.get(this.name);
    if (board && this.stood && !this.stands(table)) this.showNotices(table, board);
    for (const clock of document.querySelectorAll("#game .clock")) {
      const side = /** @type {Side} */ (clock.getAttribute("data-side"));
      const { left, runs } = this.clock(table.clock, side);
      const text = timeLeftText(left);
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("runs", runs && !isPaused);
      clock.classList.toggle("paused", isPaused);
      clock.classList.toggle("short", left < SHORT);
      if (runs && left < SHORT && this.state.sides(table).includes(side)) this.soundLowTime(table.battle);
    }
  }

  /**
   * Let the player hear that their time gets short, once in a battle.
   *
   * @param {number | null} battle
   */
  soundLowTime(battle) {
    if (battle === this.warned) return;
    this.warned = battle;
    play("low");
  }

  // What can be done.

  /**
   * @param {Table} table
   * @param {Board} board
   */
  showNotices(table, board) {
    const offers = table.offers.map((open) => this.offered(open, table));
    let notices = offers.map(({ words, buttons }) => notice(words, ...buttons));
    notices.push(...this.awayNotices(table));
    if (isOver(table, board) && !this.exercise(board.board)) {
      const told = [this.resultWords(table, board), this.soon, ...offers.map((each) => each.words)];
      const words = told.filter(Boolean).join(" ");
      const buttons = [...offers.flatMap((each) => each.buttons), ...this.next(table, board)];
      notices = this.isCardOf(board) ? [] : [notice(words, ...buttons)];
    }
    fill(byId("notices"), ...notices);
    const sought = [...this.state.seeks.values()].flatMap((seek) => this.sought(seek));
    fill(byId("sought"), ...sought);
  }

  /**
   * Return that the clock is stopped while an opponent is away, if it is.
   *
   * @param {Table} table
   */
  awayNotices(table) {
    this.stood = this.stands(table);
    if (!table.running || !this.stood || !this.state.sides(table).length) return [];
    const away = table.seats.filter(({ player, away_since }) => away_since && player !== this.state.me.player);
    return away.map(({ player, away_since }) => {
      const seconds = counted(Number(table.clock?.stands_until) - Number(away_since), "second");
      return notice(`${player} is away: the clock is stopped for at most ${seconds}.`);
    });
  }

  /**
   * Whether the clock is stopped, until a time that has not come yet.
   *
   * @param {Table} table
   */
  stands({ clock }) {
    const now = Date.now() / 1000 - this.state.skew; // by the server's clock
    return (clock?.stands_until ?? 0) > now;
  }

  /**
   * Return what an offer says, and the buttons that answer it.
   *
   * @param {Table["offers"][number]} open
   * @param {Table} table
   */
  offered(open, table) {
    const { offer, side } = open;
    const { board, offers, seats } = table;
    const mine = this.state.sides(table);
    const isMine = mine.includes(side);
    const who = seats.find((seat) => seat.side === side)?.player ?? PLURAL[side];
    const toMe = offers.filter((each) => !mine.includes(each.side));
    const accept = { label: "Accept", line: `${OFFERS[offer].verb} on ${board}`, isFirst: true, accepts: true };
    const decline = isMine ? "Withdraw" : toMe.length > 1 ? "Decline all" : "Decline";
    const answers = [...(isMine ? [] : [accept]), { label: decline, line: `no on ${board}` }];
    const standing = offer === "end" ? ` ${this.asItStands(table, this.state.boards.get(board))}` : "";
    return {
      words: offerWords(open, isMine ? null : who, table) + standing,
      buttons: mine.length ? answers.map((each) => this.button(each)) : [],
    };
  }

  /**
   * Show the card of a battle that has just ended, until it is closed or earlier moves are shown.
   *
   * @param {Table} table
   * @param {Board} board
   */
  showResult(table, board) {
    const { battle, end } = board;
    if (battle !== null && table.running && !this.exercise(board.board)) this.underWay.add(battle);
    if (battle !== null && end && isOver(table, board) && this.underWay.delete(battle)) {
      this.result.open(battle); // the log, which is read out, says it as well
    }
    if (this.at !== null) this.result.open(null);
    this.result.show(this.isCardOf(board) ? this.resultOf(table, board) : null);
  }

  /**
   * Whether the card over the board is that of its battle.
   *
   * @param {Board} board
   */
  isCardOf({ battle, end }) {
    return battle !== null && Boolean(end) && this.result.battle === battle;
  }

  /** Show the board without the card; the focus goes on from there if it was in the card. */
  resultClosed() {
    const hadFocus = this.result.hasFocus();
    this.show(this.name);
    if (hadFocus) this.focus();
  }

  /**
   * @param {Table} table
   * @param {Board} board
   */
  resultOf(table, board) {
    const { player } = this.state.me;
    const { who, rest } = endingParts(board.end, player);
    const offers = table.offers.map((open) => this.offered(open, table));
    const isAlone = this.state.sides(table).length > 0 && table.seats.some((seat) => seat.player === null);
    const search = { label: "Find another opponent", line: "go to hall", isFirst: true };
    const lines = [
      `${capitalised(rest)}.`,
      matchEnding(table, player),
      ratingChanges(board.end, player),
      this.soon,
      ...offers.map(({ words }) => words),
    ];
    return {
      title: who,
      lines: lines.map((each) => each.trim()).filter(Boolean),
      buttons: [
        ...offers.flatMap(({ buttons }) => buttons),
        isAlone && !table.tournament && this.button(search),
        ...this.next(table, board),
      ].filter((each) => each !== false),
    };
  }

  /**
   * Return in words how a battle has ended.
   *
   * @param {Table} table
   * @param {Board} board
   */
  resultWords(table, { end }) {
    const { player } = this.state.me;
    const words = end ? ending(end, player) : "The battle is over.";
    return words + matchEnding(table, player) + ratingChanges(end ?? {}, player);
  }

  /**
   * Return that the player is waiting for an opponent, or has asked one who is busy, if so.
   *
   * @param {Seek} seek
   */
  sought({ seek, player, to, word, answers, rules, time }) {
    if (player !== this.state.me.player || word) return [];
    if (answers !== null && to) {
      const stop = { label: "Withdraw", line: `withdraw ${seek}` };
      const words = `You have asked ${to}, who is in a battle just now, to play you now.`;
      return [notice(words, this.button(stop))];
    }
    if (to !== null) return [];
    const stop = { label: "Cancel", line: `withdraw ${seek}` };
    const words = `Searching for a person: ${rulesTitle(rules)}${time ? `, ${time}` : ""}.${this.whenFound()}`;
    return [notice(words, this.button(stop))];
  }

  /** Return what becomes of the battle in view when an opponent is found, as a further sentence. */
  whenFound() {
    const table = this.state.tables.get(this.name);
    if (!table?.running || this.state.sides(table).length !== 1 || this.exercise(this.name)) return "";
    const isAsked = table.time ? !table.time.includes("day") : !this.playsBot(table);
    return isAsked ? " You’ll be asked first." : " This battle will wait.";
  }

  /**
   * Return what somebody may want to do once a battle is over.
   *
   * @param {Table} table
   * @param {Board} board
   */
  next(table, board) {
    const mine = this.state.sides(table);
    const isFull = table.seats.every((seat) => seat.player !== null);
    const isDone = Boolean(table.tournament) && table.over; // what else its players do is up to them
    const start = { label: this.startLabel(table), line: `start game on ${table.board}`, isFirst: !isDone };
    const isOffered = table.offers.some(({ offer }) => OFFERS[offer].verb === "start game"); // see there
    const mayStart = mine.length > 0 && isFull && !isOffered;
    return [
      isDone && this.tournamentLink(table, ".button.primary"),
      mayStart && this.button(start),
      board.battle !== null && h("a.button", { href: `/game/${board.battle}#end` }, "Analyse"),
    ];
  }

  /**
   * Return what `start` does after a battle: people are asked whether they play on.
   *
   * @param {Table} table
   */
  startLabel(table) {
    if (this.state.sides(table).length === 2) return "Practise again";
    return this.isBetween(table) ? "Play the second battle" : "Rematch";
  }

  /**
   * Show what others played while a battle goes on, but to whoever plays here, or has no name: what
   * was played in the end is analysed in its replay.
   *
   * @param {Table} table
   * @param {Board} board
   */
  explore(table, board) {
    const mine = this.state.sides(table).length;
    const isNone = this.state.me.player === null && (table.running || board.battle === null);
    const { battle, version } = board;
    const ply = this.at ?? board.ply;
    const isHidden = isNone || (table.running && mine === 1) || isOver(table, board) || this.exercise(board.board);
    const where = { battle, board: battle === null ? board.board : null, ply, version };
    this.explorer.show(isHidden ? null : where);
  }

  /**
   * @param {Table} table
   * @param {Board} board
   */
  showActions(table, board) {
    const all = this.possible(table, board);
    this.inMenu = all.filter(({ label }) => SMALL.matches && IN_MENU.includes(label));
    this.share.name(this.inMenu.length ? "More" : "Share");
    const buttons = (/** @type {Action[]} */ some) => some.map((each) => this.button(each));
    const isLast = (/** @type {Action} */ { label }) => label === "Resign";
    fill(byId("actions"), ...buttons(all.filter((each) => !this.inMenu.includes(each) && !isLast(each))));
    fill(byId("resign"), ...buttons(all.filter(isLast))); // after the chat for the Tab key, too
    this.share.host.hidden = this.exercise(board.board) !== null;
  }

  /**
   * Tell a player whose battle begins what to do, where the moves will be.
   *
   * @param {Table} table
   * @param {Board} board
   */
  showBrief(table, board) {
    const mine = this.state.sides(table);
    const isNew = table.running && board.ply < 2 && mine.length === 1 && !this.exercise(board.board);
    const [goal, how] = AIMS[table.rules] ?? AIMS.discworld;
    const what =
      board.turn === mine[0]
        ? `${CLICK} one of yours, then where it goes.`
        : `It’s the ${PLURAL[board.turn ?? "dwarf"]}’ turn.`;
    byId("brief").textContent = isNew ? `You play the ${PLURAL[mine[0]]}. ${what}` : "";
    byId("goal").textContent = isNew ? `${goal} ${how}` : "";
  }

  /** Return the ways to take the board in view elsewhere. */
  shared() {
    const { name, at } = this;
    const { ply = 0, battle = null, end = null } = this.state.boards.get(name) ?? {};
    const board = `/board/${encodeURIComponent(name)}`;
    const hasEnded = battle !== null && end !== null; // the battle stays, but not at the board
    const path = hasEnded ? `/game/${battle}` : board;
    const words = `Anyone with the link can ${hasEnded ? "replay it" : "watch"}.`;
    const items = shareItems({
      copyLink: () => share(location.origin + path, words),
      openPictures: () => openPictures(path, capitalised(name), at, settings.flipped),
      openSnippet: () => openSnippet(location.origin + path),
      record: ply ? { href: `${board}.thud`, download: `${name}.thud` } : null,
    });
    return [...this.inMenu.map((each) => this.button(each)), ...items];
  }

  /**
   * Return what the player may want to do at a board.
   *
   * @param {Table} table
   * @param {Board} board
   * @returns {Action[]}
   */
  possible(table, board) {
    const { player } = this.state.me;
    const on = `on ${table.board}`;
    const mine = this.state.sides(table);
    const free = table.seats.filter((seat) => seat.player === null);
    if (!player || this.exercise(table.board)) return [];
    if (!mine.length) {
      const open = free.filter(
        ({ side, kept_for }) =>
          !kept_for || kept_for === player || this.state.isInvited(table.board, side),
      );
      const sit = open.map(({ side }) => ({
        label: `Sit as ${PLURAL[side]}`,
        line: `join game as ${side} ${on}`,
      }));
      if (!this.state.observed.includes(table.board)) return sit;
      const go = { label: "Go there", line: `go to ${table.board}` };
      return this.state.tv.board === table.board
        ? [...sit, go, { label: "Turn the TV off", line: "tv off" }]
        : [...sit, go, { label: "Stop observing", line: `unobserve ${table.board}` }];
    }
    const isLate = table.seats.some((seat) => seat.away_since) || Boolean(table.claim_at);
    const mayClaim = isLate && !table.clock; // a clock does that by itself
    if (table.running) {
      const ways = mine.length === 2 ? PRACTICE : mayClaim ? [...RUNNING, CLAIM] : RUNNING;
      const known = ways.filter(([, verb]) => verb !== "hint" || this.mayHint(table));
      const line = (/** @type {string} */ verb) => `${verb} ${on}`;
      return known.map(([label, verb, question]) => ({
        label,
        line: line(verb),
        question: this.question(table, board, verb, question),
        refused: this.isHinting(line(verb), board)
          ? "Thinking …"
          : table.offers.some(({ offer }) => verb.startsWith(OFFERS[offer].verb))
            ? "It’s offered already."
            : REFUSALS[verb]?.(board, mine),
      }));
    }
    const leave = { label: "Leave the seat", line: `leave game ${on}` };
    if (free.length) {
      const bot = this.state.people.find((each) => each.bot);
      return [
        ...(bot
          ? [{ label: `Invite ${bot.player}`, line: `invite ${bot.player} ${on}`, isFirst: true }]
          : []),
        leave, // not where a button to sit down was
        { label: "Practise both sides", line: `practice ${on}` },
      ];
    }
    if (isOver(table, board)) return [leave]; // to begin another one stands above
    const label = table.part === 1 ? this.startLabel(table) : "Begin";
    return [{ label, line: `start game ${on}`, isFirst: true }, leave];
  }

  /**
   * Return what is asked before a command is sent.
   *
   * @param {Table} table
   * @param {Board} board
   * @param {string} verb
   * @param {string} [question]
   */
  question(table, board, verb, question) {
    if (verb === "undo" && this.playsBot(table)) return undefined;
    const hasOpponent = this.state.sides(table).length === 1;
    return verb === "end game" && hasOpponent ? `${question} ${this.asItStands(table, board)}` : question;
  }

  /**
   * Return who would win if the battle ended now by agreement, as a sentence.
   *
   * @param {Table} table
   * @param {Board | undefined} board
   */
  asItStands({ rules, seats }, board) {
    const { dwarf, troll } = board?.score ?? { dwarf: 0, troll: 0 };
    if (rules === "koom valley") return "As it stands, the battle would be drawn.";
    if (dwarf === troll) return `As it stands, the battle would be drawn ${dwarf} all.`;
    const side = dwarf > troll ? "dwarf" : "troll";
    const winner = seats.find((seat) => seat.side === side)?.player ?? `the ${side}s`;
    const who = winner === this.state.me.player ? "you" : winner;
    return `As it stands, ${who} would win ${Math.max(dwarf, troll)} to ${Math.min(dwarf, troll)}.`;
  }

  /**
   * Whether the player's opponent is a bot, which agrees at once.
   *
   * @param {Table} table
   */
  playsBot({ seats }) {
    return seats.some(({ player }) => this.state.isBot(player));
  }

  /**
   * Whether the server gives hints at a board: not in rated battles, nor with a clock to people.
   *
   * @param {Table} table
   */
  mayHint(table) {
    const hasOpponent = this.state.sides(table).length === 1;
    const isTimed = table.time !== null && !this.playsBot(table);
    return hasFeature("hints") && !(hasOpponent && (table.rated || isTimed));
  }

  /**
   * Show that a hint is awaited.
   *
   * @param {string} line the command
   */
  awaitHint(line) {
    if (!this.outside.isConnected()) return;
    this.hinting = { line, ply: this.state.boards.get(this.name)?.ply ?? 0 };
    this.show(this.name);
  }

  /**
   * Whether a hint for what stands on a board is awaited.
   *
   * @param {string} line the command
   * @param {Board} board
   */
  isHinting(line, { ply }) {
    return this.hinting.line === line && this.hinting.ply === ply;
  }

  /** @param {Action} action */
  button({ label, line, question, isFirst, refused, accepts }) {
    const type = async (/** @type {Event} */ event) => {
      const isRepeated = /** @type {MouseEvent} */ (event).detail > 1;
      if (isRepeated && line !== this.pressed) return; // a double click, meant for another button
      this.pressed = line;
      if (question && !(await confirmed(question, label))) return;
      this.outside.send(line);
      if (label === "Hint") this.awaitHint(line);
    };
    const kind = isFirst ? ".primary" : label === "Resign" ? ".danger" : "";
    return h(
      `button${kind}`,
      {
        type: "button",
        "data-key": line,
        "data-accepts": accepts,
        title: refused,
        disabled: Boolean(refused),
        click: type,
      },
      label,
    );
  }

  flip() {
    change({ flipped: !settings.flipped });
    this.show(this.name);
    say("Board flipped.");
  }

  /** @param {Board} board */
  showSteps(board) {
    const first = board.ply - board.plies.length;
    fill(byId("steps"), ...tools(this.at ?? board.ply, first, board.ply, this));
  }

  /**
   * @param {string} key
   * @param {string} square
   */
  key(key, square) {
    const question = QUESTIONS[key];
    if (PRESSES[key]) this.press(PRESSES[key]);
    else if (question) this.ask(`${question(square)} on ${this.name}`);
    else if (key === "Escape") this.escape();
    else if (key === "f") this.flip();
    else return false;
    return true;
  }

  /**
   * Press a button, if it is there; say why if it can't be pressed now.
   *
   * @param {string} verb that it types
   */
  press(verb) {
    const button =
      byId("actions").querySelector(`[data-key^="${verb} "]`) ??
      byId("lesson").querySelector(`.row [data-key=${verb}]`);
    if (button?.disabled) warn(button.title);
    button?.click();
  }

  /**
   * Ask the server something that it answers in the log.
   *
   * @param {string} line
   */
  ask(line) {
    if (this.at !== null) this.outside.note("Current position:");
    this.outside.question(line);
  }
}

const OFFERS = /** @type {Record<string, {verb: string, words: string, brief?: string}>} */ ({
  end: { verb: "end", words: "to end the battle now and count the points", brief: "to end the battle" },
  restart: { verb: "start game", words: "to start over with a new match" },
  rematch: { verb: "start game", words: "a rematch", brief: "to play another match" },
  begin: { verb: "start game", words: "to begin the battle" },
  second: { verb: "start game", words: "to begin the second battle" },
  adjourn: { verb: "adjourn", words: "to adjourn the match" },
  undo: { verb: "undo", words: "to take back the last move", brief: "to take the last move back" },
});

/**
 * Return what an offer that has been answered was about, in few words.
 *
 * @param {string} offer
 */
export function offered(offer) {
  return OFFERS[offer].brief ?? OFFERS[offer].words;
}

/** Offers that are more of a request. */
const REQUESTS = ["undo"];

/**
 * Return what a player offers or asks for, as a sentence.
 *
 * @param {Table["offers"][number]} open
 * @param {string | null} who null is whoever reads it
 * @param {Table} table
 */
function offerWords({ offer, moves }, who, { part }) {
  const verb = REQUESTS.includes(offer) ? "ask" : "offer";
  const words =
    moves && moves > 1
      ? `to take back ${who === null ? "your" : "their"} last ${moves} moves`
      : OFFERS[offer === "begin" && part === 1 ? "second" : offer].words;
  return `${who === null ? `You ${verb}` : `${who} ${verb}s`} ${words}.`;
}

/** What the players of a battle can do: a label, a verb, and what is asked first. @type {[string, string, string?][]} */
const RUNNING = [
  ["Hint", "hint"],
  ["Undo", "undo", "Take back your last move? Your opponent has to agree."],
  ["Offer to end", "end game", "Offer to end the battle now and count the points?"],
  ["Adjourn", "adjourn", "Offer to adjourn the match?"],
  ["Resign", "resign"], // the server asks
];

/** @type {[string, string, string?][]} */
const PRACTICE = [
  ["Hint", "hint"],
  ["Undo", "undo"],
  ["End", "end game", "End the practice?"],
];

/**
 * Why commands can't be given now, by their verbs; nothing if they can.
 *
 * @type {Record<string, (board: Board, mine: Side[]) => string | undefined>}
 */
const REFUSALS = {
  hint: ({ turn }, mine) =>
    turn && !mine.includes(turn) ? "Hints are for your own turn." : undefined,
  undo: ({ ply, turn }, mine) => {
    const isFirstMine = turn === null || !mine.includes(turn) || mine.length === 2;
    return ply > (isFirstMine ? 0 : 1) ? undefined : "You haven’t moved yet.";
  },
};

/** @type {[string, string, string?]} */
const CLAIM = [
  "Claim",
  "claim",
  "Your opponent is away or not moving. Claim the win?",
];

/**
 * Return what a player's strip is called: by who plays, and the side.
 *
 * @param {Table} table
 * @param {Side} side
 */
function stripName({ seats }, side) {
  return `${holder(seats.find((seat) => seat.side === side))}, ${PLURAL[side]}`;
}

/**
 * Return how an invitation is accepted, and what it asks somebody to do.
 *
 * @param {{board: string, side: Side, battle: number | null}} invite
 */
export function agreeing({ board, side, battle }) {
  if (battle !== null)
    return {
      label: "Go on",
      line: `resume game ${battle} on ${board}`,
      words: `go on with battle ${battle} at the ${board}`,
    };
  return {
    label: "Sit down",
    line: `join game as ${side} on ${board}`,
    words: `play the ${PLURAL[side]} at the ${board}`,
  };
}

/**
 * Whether the last battle at a board has ended, and no other has begun.
 *
 * @param {Table} table
 * @param {Board} board
 */
function isOver(table, board) {
  return !table.running && (board.end !== null || board.ply > 0 || table.part !== null);
}

/**
 * @param {string} words
 * @param {...(Node | false)} buttons
 */
function notice(words, ...buttons) {
  return h("div.notice", {}, h("p", {}, words), ...buttons);
}

/**
 * Return how a battle ended, for one player, as a sentence.
 *
 * @param {any} end
 * @param {string | null} me
 */
export function ending(end, me) {
  const { who, rest } = endingParts(end, me);
  return end.winner ? `${who} ${rest}.` : `${who}, ${rest}.`;
}

/**
 * Return who has won, for one player, and how.
 *
 * @param {any} end
 * @param {string | null} me
 */
function endingParts(end, me) {
  const how = ENDINGS[end.outcome] ?? "";
  const loser = end.winner === "dwarf" ? "troll" : "dwarf";
  const score = `${end.score[end.winner ?? "troll"]} to ${end.score[loser]}`;
  if (!end.winner) return { who: "A draw", rest: score + how };
  const side = PLURAL[/** @type {Side} */ (end.winner)];
  const winner = end[end.winner];
  const who = winner && winner === me ? "You win" : winner ? `${winner} wins` : `The ${side} win`;
  const isAll = end.outcome === "all_captured";
  return { who, rest: isAll ? `${score}: every ${loser} has been captured` : score + how };
}

/**
 * Return how a match ended or stands, for one player, as a further sentence; nothing in practice.
 *
 * @param {Table} table
 * @param {string | null} me
 */
function matchEnding({ over, part, seats, points }, me) {
  if (part === null || seats.some((each) => each.player === null)) return "";
  const [winner, loser] = [...seats].sort((a, b) => points[b.side] - points[a.side]);
  const score = `${points[winner.side]} to ${points[loser.side]}`;
  const isLevel = points[winner.side] === points[loser.side];
  if (part === 1 && isLevel) return ` The match is level, ${points.dwarf} all.`;
  if (part === 1 && loser.player === me) return ` You trail ${points[loser.side]} to ${points[winner.side]} so far.`;
  if (part === 1) return ` ${winner.player === me ? "You lead" : `${winner.player} leads`} ${score} so far.`;
  if (!over) return "";
  if (isLevel) return ` The match is a draw, ${score}.`;
  return ` ${winner.player === me ? "You win" : `${winner.player} wins`} the match, ${score}.`;
}

/**
 * Return what a hint's reasons are about: own pieces that hang, what the move aims at, the reply.
 *
 * @param {any} hint
 */
function threatsOf({ reasons, reply, ...move }) {
  /** @type {import("./board.js").Annotation[]} */
  const shown = [arrow(move, "best")];
  for (const { reason, number, capture } of reasons) {
    if (reason === "saves" && capture?.captures.length === number)
      shown.push(...capture.captures.map(circled));
    if (reason === "threatens" && capture) shown.push(arrow(capture, "best"));
    if (reason === "loses" && capture && !reply) shown.push(arrow(capture, "reply"));
  }
  return reply ? [...shown, arrow(reply, "reply")] : shown;
}

/** @param {string} square */
function circled(square) {
  return { from: square, to: null, kind: "reply" };
}

/**
 * @param {any} ply
 * @param {string} kind
 */
function arrow({ from, to }, kind) {
  return { from, to, kind };
}

/**
 * Return how ratings have changed, or why none has, as further sentences for one player; nothing
 * of a casual battle, as those of guests are: the facts above say so.
 *
 * @param {any} end what `Thud.End` tells; of a record, nothing is known
 * @param {string | null} me
 */
function ratingChanges({ ratings = [], unrated = "" }, me) {
  if (UNRATED[unrated]) return ` No rating changes: ${UNRATED[unrated]}.`;
  const ownFirst = [...ratings].sort((a, b) => Number(b.player === me) - Number(a.player === me));
  return ownFirst
    .map(({ player, before, rating, provisional, against }) => {
      const whose = player === me ? "Your" : `${player}’s`;
      const kind = against === "bots" ? "rating against bots" : "rating";
      return ` ${whose} ${kind}: ${before} → ${rating}${provisional ? "?" : ""}.`;
    })
    .join("");
}

const UNRATED = /** @type {Record<string, string>} */ ({
  too_short: "a battle was too short",
  replaced: "a player was replaced",
  set_up: "the position was set up",
  too_often: "the two play each other too often",
});

const ENDINGS = /** @type {Record<string, string>} */ ({
  agreement: ", by agreement",
  quiet: ": no capture for a long time",
  no_move: ": the other side has no legal move",
  resignation: ", by resignation",
  claim: ", by a claim",
  rock_escaped: ": the Rock is home",
  rock_captured: ": the Rock is captured",
  time: ", on time",
  length: ": the battle reached the longest length allowed",
});

/**
 * A battle that was played: to step through, with what an analysis has found, to download, to link to.
 */

import { AnalysisBoard } from "./analysis.js";
import { Annotations } from "./annotations.js";
import { say } from "./announce.js";
import { BoardView, NO_MARKS } from "./board.js";
import { Curve, marksOf } from "./curve.js";
import { share } from "./dialogs.js";
import { byId, clockText, counted, entitle, fill, h, hasFeature, rulesTitle, token } from "./dom.js";
import { Explorer } from "./explorer.js";
import { ending } from "./game.js";
import { MoveList, asOf, positionLabel, tools } from "./moves.js";
import { Playback } from "./playback.js";
import { count, played, positionOf } from "./position.js";
import { change, isTurned, settings } from "./settings.js";
import { ShareMenu, openPictures, openSnippet, shareItems } from "./sharing.js";
import { play } from "./sound.js";
import { pairTitle } from "./state.js";

const FEWEST = 2; // moves of a battle that the server analyses

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./state.js").State} State */

export class ReplayView {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   * @param {(battle: number, ply: number, explores: boolean) => void} outside.at is told what is shown
   * @param {(where: import("./explorer.js").Where) => void} outside.explore asks what others played
   * @param {(line: string, id: string) => void} outside.question asks what a command tells
   * @param {(place: import("./router.js").Place) => void} outside.comeIn makes a guest of a visitor
   */
  constructor(state, outside) {
    this.state = state;
    this.outside = outside;
    this.number = 0;
    this.at = 0;
    /** @type {any} */
    this.record = null;
    this.download = "";
    /** @type {any[]} */
    this.comments = [];
    /** @type {BoardView | null} */
    this.view = null;
    this.moves = new MoveList(byId("replay-moves"), (ply) => this.step(ply));
    this.curve = new Curve(byId("replay-curve"), (ply) => this.step(ply), outside.send);
    new ShareMenu(byId("replay-share"), () => this.shared());
    this.explorer = new Explorer(byId("replay-explorer"), state, outside.explore);
    this.playback = new Playback({
      restart: () => this.goTo(0),
      advance: () => this.advance(),
      isAtEnd: () => this.at >= this.lastPly,
      changed: () => this.show(),
    });
    const hosts = {
      tree: byId("replay-tree"),
      choice: byId("replay-choice"),
      engine: byId("replay-engine"),
    };
    this.board = new AnalysisBoard(state, hosts, {
      ...outside,
      mark: (marks) => this.view?.mark(marks),
      changed: () => this.followTree(),
    });
    /** Whether the analysis board is to be opened once the battle is known. */
    this.isToExplore = false;
    /** @type {Annotations | null} */
    this.annotations = null;
    /** Whether there is no such battle. */
    this.isMissing = false;
    state.on("Thud.Record", (record) => this.take(record));
    state.on("Thud.Refused", ({ code, details }) => {
      if (code === "no_such_battle" && details.number === this.number && !this.record)
        this.isMissing = true;
    });
    state.on("Thud.Comment", (comment) => {
      if (comment.battle !== this.number) return;
      const others = this.comments.filter(
        (each) => each.ply !== comment.ply || each.player !== comment.player,
      );
      this.comments = comment.text === null ? others : [...others, comment];
    });
  }

  /**
   * Show a battle, as far as it is known.
   *
   * @param {number} number
   * @param {number | null} ply
   * @param {boolean} [explores] whether on the analysis board
   */
  open(number, ply, explores = false) {
    if (number !== this.number) {
      this.number = number;
      this.record = null;
      this.isMissing = false;
      this.comments = [];
      this.playback.pause();
      if (this.board.isOpen) this.board.close();
    }
    this.at = ply ?? 0;
    if (this.record) this.at = Math.min(this.at, this.record.ply);
    this.isToExplore = explores;
    if (this.board.isOpen) this.board.tree?.goToMain(this.at);
    this.exploreIfAsked();
  }

  /** @param {any} record */
  take(record) {
    if (record.battle !== this.number || !record.moves) return;
    const opening = positionOf(record.rows);
    const position = record.moves.reduce(played, opening);
    this.record = { ...record, position, ply: record.moves.length, plies: record.moves };
    const isToEnd = this.at === Infinity;
    this.at = Math.min(this.at, record.moves.length);
    if (isToEnd) this.outside.at(this.number, this.at, false); // a link or a snippet is of this move
    if (this.board.battle !== record.battle || !this.board.isOpen)
      this.board.load(record.battle, opening, record.moves);
    this.exploreIfAsked();
    URL.revokeObjectURL(this.download);
    this.download = URL.createObjectURL(new Blob([record.record], { type: "text/plain" }));
  }

  /** What the battle is called: by its players, if there were two. */
  get title() {
    const { dwarf, troll } = this.record ?? {};
    return dwarf && troll && dwarf !== troll ? pairTitle(dwarf, troll) : `Battle #${this.number}`;
  }

  /** What an analysis has found, if there was one. */
  get analysis() {
    return this.state.analyses.get(this.number) ?? null;
  }

  /**
   * Go to a position; whoever looks at one doesn't want to be led away.
   *
   * @param {number} ply
   */
  step(ply) {
    this.playback.pause();
    this.goTo(ply);
    this.sayPosition();
  }

  /** Tell those who hear the page which position is shown, unless the focus is on its move, and its verdict. */
  sayPosition() {
    const isSaid = this.moves.hasFocus() || byId("replay-tree").contains(document.activeElement);
    if (!this.record) return;
    const { node } = this;
    const last = node ? node.move : (this.record.plies[this.at - 1] ?? null);
    const label = isSaid ? "" : positionLabel(last, this.at);
    say(`${label} ${this.curve.verdict.textContent}`.trim());
  }

  /** @param {number} ply */
  goTo(ply) {
    if (this.board.isOpen) {
      this.board.step(ply);
      return;
    }
    this.at = Math.max(0, Math.min(ply, this.record?.ply ?? 0));
    this.outside.at(this.number, this.at, false);
    this.show();
  }

  // The analysis board.

  /** The number of moves in the line that is shown. */
  get lastPly() {
    return this.board.isOpen ? (this.board.tree?.last ?? 0) : (this.record?.ply ?? 0);
  }

  /** The position on the analysis board; null while it is closed. */
  get node() {
    return this.board.isOpen ? (this.board.tree?.current ?? null) : null;
  }

  /** Open the analysis board, if that was asked for, and the battle is known by now. */
  exploreIfAsked() {
    if (!this.isToExplore || !this.record) return;
    this.isToExplore = false;
    if (this.mayExplore && this.state.me.player) this.board.open(this.at);
  }

  /** Whether the battle is known, and over or given up. */
  get isOver() {
    return ["ended", "unfinished"].includes(this.record?.state);
  }

  /** Whether the server tells players about variations of this battle. */
  get mayExplore() {
    return this.isOver && hasFeature("variations");
  }

  /** Show the position that the analysis board has come to. */
  followTree() {
    const { node } = this;
    if (node) {
      this.at = node.ply;
      this.outside.at(this.number, node.branch, true);
    } else {
      this.at = Math.min(this.at, this.record?.ply ?? 0);
      this.outside.at(this.number, this.at, false);
      this.view?.mark(NO_MARKS);
    }
    this.show();
  }

  annotate() {
    this.view?.annotate([...this.board.arrows, ...(this.annotations?.drawn ?? [])]);
  }

  /** Go to the next move, as it sounds when it is played. */
  advance() {
    this.goTo(this.at + 1);
    const move = this.node ? this.node.move : this.record.plies[this.at - 1];
    play(move?.captures.length ? "capture" : "move");
  }

  /** @param {number} plies how many to go on, or back */
  move(plies) {
    this.step(this.at + plies);
  }

  /** @param {string} key */
  key(key) {
    if (key === "f") this.flip();
    else if (key === "Escape") this.escape();
    else return false;
    return true;
  }

  /** Give up a move that is being put together. */
  escape() {
    if (this.board.mover.selected) this.board.mover.cancel("Cancelled.");
  }

  flip() {
    change({ flipped: !settings.flipped });
    this.show();
    say("Board flipped.");
  }

  show() {
    const { record } = this;
    entitle("replay", this.title);
    byId("replay").classList.toggle("missing", !record);
    if (!record) {
      const link = h("a", { href: "/" }, "The hall");
      const missing = [`There is no battle ${this.number}. `, link, " lists the latest ones."];
      fill(byId("replay-facts"), ...(this.isMissing ? missing : ["Loading …"]));
      return;
    }
    const { node } = this;
    const { position, last } = node
      ? { position: node.position, last: node.move }
      : asOf(record, this.at);
    this.view ??= this.makeBoard();
    this.view.flip(settings.flipped);
    const variation = node && !node.isMain ? ", variation" : "";
    const label = `${this.title} after ${counted(this.at, "move")}${variation}`;
    this.view.show(position, last, label);
    this.view.element.classList.toggle("mine", node !== null);
    this.annotate();
    const { player } = this.state.me;
    const isTroll = player !== null && record.troll === player && record.dwarf !== player;
    const isTrollBelow = isTroll !== isTurned();
    this.showPlayer("top", isTrollBelow ? "dwarf" : "troll", position);
    this.showPlayer("bottom", isTrollBelow ? "troll" : "dwarf", position);
    byId("replay-facts").textContent = this.facts();
    fill(byId("replay-steps"), ...this.steps());
    const isMain = !node || node.isMain;
    const hadFocus = this.curve.host.contains(document.activeElement);
    this.curve.show(this.analysis, isMain ? this.at : null);
    const isEnd = this.at === record.plies.length;
    this.explorer.show(isMain ? { battle: this.number, board: null, ply: this.at, isEnd } : null, !isMain);
    this.showWords();
    this.showActions();
    if (hadFocus && !this.analysis) byId("replay-actions").querySelector("[data-key=analyse]")?.focus();
    this.moves.marks = marksOf(this.analysis);
    this.moves.host.hidden = node !== null;
    this.board.show(this.moves.marks);
    if (!node) this.moves.show(record.plies, this.at); // the last, since it has what room is left
  }

  makeBoard() {
    const { mover } = this.board;
    const view = new BoardView(byId("replay-board"), {
      pick: (where) => this.board.isOpen && mover.pick(where),
      lift: (square) => this.board.isOpen && mover.lift(square),
      drop: (where) => mover.drop(where),
      key: (key) => this.key(key),
    });
    this.annotations = new Annotations(view, () => this.annotate());
    return view;
  }

  steps() {
    const [first, previous, next, last, flip] = tools(this.at, 0, this.lastPly, this);
    const playPause = this.playback.playButton();
    return [first, previous, playPause, next, last, flip, this.playback.speedButton()];
  }

  facts() {
    const { record } = this;
    const date = new Date(record.at * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
    const facts = [`${rulesTitle(record.rules)} rules`, date, counted(record.ply, "move")];
    const battle = `Battle #${this.number}`;
    if (this.title !== battle) facts.unshift(battle);
    if (record.state === "unfinished") facts.push("never finished");
    if (record.outcome) facts.push(ending(record, this.state.me.player).replace(/\.$/, ""));
    return facts.join(" · ");
  }

  /**
   * @param {"top" | "bottom"} where
   * @param {Side} side
   * @param {import("./position.js").Position} position
   */
  showPlayer(where, side, position) {
    const isEnd = this.node?.isMain && this.at === this.record.ply && this.record.outcome;
    fill(
      byId(`replay-${where}`),
      token(side),
      h("span.name", {}, this.record[side] ?? "somebody"),
      this.record.winner === side && (!this.node || isEnd) && h("span.badge", {}, "won"),
      this.node && !isEnd && this.board.turn === side && h("span.badge.turn", {}, "to move"),
      h("span.left", {}, `${count(position, side)}`, h("small", {}, " left")),
      this.record.time && h("time.clock", {}, clockText(this.left(side))),
    );
  }

  /**
   * Return how many seconds a side had left after the ply that is shown.
   *
   * @param {Side} side
   */
  left(side) {
    const { plies, time } = this.record;
    const at = this.node ? this.node.branch : this.at;
    const own = plies.filter(
      (/** @type {any} */ each) => each.side === side && each.ply <= at && each.left !== null,
    );
    const given = parseInt(time, 10) * (time.includes("day") ? 86400 : 60);
    return own.at(-1)?.left ?? given;
  }

  /** Show what was said of the ply. */
  showWords() {
    const isMain = !this.node || this.node.isMain;
    const said = isMain ? this.comments.filter((each) => each.ply === this.at) : [];
    fill(
      byId("comments"),
      ...said.map((each) => h("p", {}, h("b", {}, each.player ?? "Somebody"), `: ${each.text}`)),
    );
  }

  /** Show the buttons; the focus goes on from one that has gone: to the analysis that it began. */
  showActions() {
    const host = byId("replay-actions");
    const had = document.activeElement;
    const hadFocus = host.contains(had);
    fill(host, ...this.actions());
    if (!hadFocus || host.contains(document.activeElement)) return;
    const isAnalysed = had?.getAttribute("data-key") === "analyse" && this.analysis;
    const next = isAnalysed ? byId("replay-curve") : host.querySelector("button");
    (next ?? byId("replay-title")).focus();
  }

  actions() {
    return [
      ...this.exploring(),
      this.state.me.player &&
        this.isOver &&
        !this.analysis &&
        this.record.ply >= FEWEST &&
        hasFeature("analysis") &&
        h(
          "button.primary",
          {
            type: "button",
            "data-key": "analyse",
            click: () => this.outside.send(`analyse ${this.number}`),
          },
          "Computer analysis",
        ),
    ];
  }

  /** Return the ways to take the battle elsewhere, as it is shown. */
  shared() {
    const { number, at, download } = this;
    return shareItems({
      copyLink: () => this.copyLink(),
      openPictures: this.node
        ? null // they are of the battle, not of a variation
        : () => openPictures(`/game/${number}`, `Battle #${number}`, at, settings.flipped),
      openSnippet: () => openSnippet(location.href),
      record: { href: download, download: `thud-${number}.txt` },
    });
  }

  /** Open the analysis board at the position that is shown, with the focus on it. */
  explore() {
    const { number, at } = this;
    if (!this.state.me.player) {
      this.outside.comeIn({ battle: number, ply: at, explores: true });
      return;
    }
    this.board.open(at);
    if (this.view) this.view.point(this.view.focus);
    scrollTo(0, 0); // on a phone, the button is below the board
  }

  /** Return the buttons of the analysis board. */
  exploring() {
    const { board, node } = this;
    if (!this.mayExplore) return [];
    if (!node) return [this.button("Try other moves", () => this.explore())];
    return [
      this.button("Play from here", () => board.playOn()),
      !node.isMain && this.button("Delete from here", () => board.prune()),
      board.tree?.variations.length > 0 && this.button("Clear all", () => board.clear()),
      this.button("Back to the game", () => board.close()),
    ];
  }

  /**
   * @param {string} label
   * @param {() => void} click
   */
  button(label, click) {
    return h("button", { type: "button", "data-key": `share-${label}`, click }, label);
  }

  copyLink() {
    share(location.href, "Anyone with the link sees this position.");
  }
}

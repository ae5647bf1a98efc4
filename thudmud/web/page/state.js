/**
 * What the page knows: itself, the boards, the seeks, who is here. It is made of the facts that the
 * server sends, which docs/gmcp-reference.md describes; nothing else changes it.
 */

import { capitalised } from "./dom.js";
import { played, positionOf, unplayed } from "./position.js";
import { read, write } from "./settings.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./position.js").Position} Position */
/** @typedef {import("./position.js").Ply} Ply */

/**
 * @typedef {{side: Side, player: string | null, away_since: number | null, kept_for?: string}} Seat
 * @typedef {Record<Side, number>} Score
 * @typedef {{dwarf: number, troll: number, at: number, runs: Side | null, falls: number | null, stands_until: number | null}} Clock
 *
 * @typedef {object} Table a board but for its position: `Thud.Table`
 * @property {string} board
 * @property {number} version
 * @property {number | null} battle
 * @property {string} rules
 * @property {number | null} part
 * @property {boolean} running
 * @property {boolean} over
 * @property {Seat[]} seats
 * @property {Score} points
 * @property {{offer: string, side: Side, moves: number | null}[]} offers
 * @property {string | null} [time]
 * @property {Clock | null} [clock]
 * @property {number | null} [claim_at]
 * @property {boolean | null} [rated]
 * @property {number | null} [tournament]
 * @property {number | null} [round]
 *
 * @typedef {object} Board what stands on it, from `Thud.Board` and `Thud.Move`
 * @property {string} board
 * @property {number} version
 * @property {number | null} battle
 * @property {string} rules
 * @property {number} ply how many have been played
 * @property {Side | null} turn
 * @property {Position} position
 * @property {Ply | null} last
 * @property {Score} score
 * @property {Played[]} plies the last of them, as far as they have been seen
 * @property {any} [hint] the `Thud.Hint` for it
 * @property {any} end the `Thud.End` of the battle
 *
 * @typedef {Ply & {ply: number, side: Side, record: string, at?: number, score: Score, spent?: number | null, left?: number | null}} Played
 *
 * @typedef {object} Seek
 * @property {number} seek
 * @property {string} player
 * @property {string} rules
 * @property {Side | null} side
 * @property {boolean} rated
 * @property {string | null} to
 * @property {string | null} [time]
 * @property {string | null} word the one by which others can accept it, who don't see it
 * @property {number | null} answers the seek of the player who is asked, while they play
 */

const ANALYSES = "thud.analyses";

export class State extends EventTarget {
  /** @type {{player: string | null, member: boolean, room: string | null}} */
  me = { player: null, member: false, room: null };

  /** What is asked for, and whether nobody is to see the answer. */
  prompt = { asks: "name", hidden: false };

  /** @type {Map<string, Table>} */
  tables = new Map();

  /** @type {Map<string, Board>} */
  boards = new Map();

  /** @type {Map<number, Seek>} */
  seeks = new Map();

  /** Who is in the room. @type {any[]} */
  people = [];

  /** Who is on the server, when that was asked last. @type {any[]} */
  everybody = [];

  /** The names of bots. @type {Set<string | null>} */
  bots = new Set();

  /** At which level bots play who have one, by their names. @type {Map<string, number>} */
  levels = new Map();

  /** @type {any[]} */
  invites = [];

  /** The boards that the player observes. @type {string[]} */
  observed = [];

  /** Tournaments in short, by number. @type {Map<number, any>} */
  tournaments = new Map();

  /** The last `Thud.Crosstable` of each tournament, by number. @type {Map<number, any>} */
  crosstables = new Map();

  /** Whether the player's tv is on, and the board that it shows. */
  tv = { on: false, board: /** @type {string | null} */ (null) };

  /** The `Thud.Exercise` of the lesson or puzzle that the player is at. @type {any} */
  exercise = null;

  /** The last `Thud.Analysis` of each battle, by its number. @type {Map<number, any>} */
  analyses = new Map();

  /** How many seconds our clock is ahead of the server's. */
  skew = 0;

  /** Whether all that is from a connection that is lost. */
  isStale = false;

  /** Return the board that the player looks at; null in the hall. */
  get place() {
    return /** @type {string | null} */ (this.exercise?.board ?? this.me.room);
  }

  /** Forget all, as before a connection. */
  clear() {
    Object.assign(this, new State());
  }

  /**
   * Take a fact, and tell whoever listens for its name, and then those who listen for "change".
   *
   * @param {string} name
   * @param {any} data
   */
  take(name, data) {
    const method = name.replace("Thud.", "on");
    const knows = /** @type {any} */ (this)[method];
    const isNew = typeof knows === "function" ? knows.call(this, data) !== false : true;
    if (!isNew) return;
    this.dispatchEvent(new CustomEvent(name, { detail: data }));
    this.changed();
  }

  /** Have everything shown again. */
  changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }

  /**
   * @param {string} name
   * @param {(data: any) => void} listener
   */
  on(name, listener) {
    this.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail));
  }

  /**
   * Return the sides that the player has at a board.
   *
   * @param {Table | undefined} table
   * @returns {Side[]}
   */
  sides(table) {
    const { player } = this.me;
    if (!table || !player) return [];
    return table.seats.filter((seat) => seat.player === player).map((seat) => seat.side);
  }

  /**
   * Return whether the player has been asked to take a seat, and it is still free.
   *
   * @param {string} board
   * @param {Side} side
   */
  isInvited(board, side) {
    return this.invites.some(
      (each) => each.to === this.me.player && each.board === board && each.side === side,
    );
  }

  /**
   * Whether the position that is known is of the battle at a table: it may be on its way yet.
   *
   * @param {string} name the board's
   */
  isCurrent(name) {
    const board = this.boards.get(name);
    return board !== undefined && board.battle === this.tables.get(name)?.battle;
  }

  /**
   * Return the side that the player may move for now, if they may.
   *
   * @param {string} name the board's
   * @returns {Side | null}
   */
  mover(name) {
    const table = this.tables.get(name);
    const turn = this.boards.get(name)?.turn ?? null;
    return turn && !this.isStale && table?.running && this.sides(table).includes(turn)
      ? turn
      : null;
  }

  /**
   * Whether all that happens at a board is told, wherever the player is.
   *
   * @param {string} name
   */
  isToldOf(name) {
    return this.observed.includes(name) || this.sides(this.tables.get(name)).length > 0;
  }

  // What becomes of each fact. One that is out of date is false.

  /** @param {any} data */
  onMe(data) {
    const { prompt } = this;
    if (this.isStale) this.clear();
    const hasMoved = data.room !== this.me.room || data.player !== this.me.player; // else, they registered
    if (hasMoved && data.room === null) {
      this.tables.clear(); // all that there are are told next
      this.seeks.clear();
    } else if (hasMoved && !this.isToldOf(data.room)) {
      this.onClosed({ board: data.room }); // it is told next; another may have had its name
    }
    [this.me, this.prompt] = [data, prompt];
  }

  /** @param {Table} table */
  setTable(table) {
    this.tables.set(table.board, table);
    this.invites = this.invites.filter((each) => !isSettled(each, table));
  }

  /** @param {any} data */
  onPrompt(data) {
    this.prompt = data;
  }

  /** @param {Table} table */
  onTable(table) {
    const known = this.tables.get(table.board);
    if (known && known.version > table.version) return false;
    this.setTable(table);
    return true;
  }

  /** @param {any} listed */
  onListed({ board, version, battle, rules, running, time, rated, kept_for, ...seats }) {
    const known = this.tables.get(board);
    if (known && known.version >= version) return false;
    const table = known ?? { part: null, over: false, points: { dwarf: 0, troll: 0 }, offers: [] };
    const sides = /** @type {const} */ (["dwarf", "troll"]).map(
      (side) =>
        known?.seats.find(
          (each) => each.side === side && each.player && each.player === seats[side],
        ) ?? {
          side,
          player: seats[side],
          away_since: null,
          ...(seats[side] || !kept_for ? {} : { kept_for }),
        },
    );
    const news = { board, version, battle, rules, running, time, rated, seats: sides };
    this.setTable({ ...table, ...news });
    return true;
  }

  /** @param {any} data */
  onBoard(data) {
    const known = this.boards.get(data.board);
    if (known && known.version > data.version) return false;
    const goesOn = known && known.battle === data.battle && known.ply >= data.ply;
    this.boards.set(data.board, {
      ...data,
      position: positionOf(data.rows),
      plies: goesOn ? known.plies.filter((each) => each.ply <= data.ply) : [],
      end: goesOn && known.ply === data.ply ? known.end : null,
    });
    return true;
  }

  /** @param {any} data */
  onMove(data) {
    const board = this.boards.get(data.board);
    const table = this.tables.get(data.board);
    if (!board || board.version > data.version) return false;
    this.skew = Date.now() / 1000 - data.at;
    if (table) this.tables.set(data.board, { ...table, clock: data.clock ?? table.clock });
    const rest = {
      hint: null,
      version: data.version,
      battle: data.battle,
      score: data.score,
      turn: data.turn,
    };
    if (data.taken_back && board.ply === data.ply) {
      const plies = board.plies.filter((each) => each.ply < data.ply);
      const position = unplayed(board.position, data);
      const last = plies.at(-1) ?? null;
      this.boards.set(data.board, { ...board, ...rest, ply: data.ply - 1, position, last, plies });
    } else if (!data.taken_back && board.ply + 1 === data.ply) {
      const plies = [...board.plies, data];
      const position = played(board.position, data);
      this.boards.set(data.board, {
        ...board,
        ...rest,
        ply: data.ply,
        position,
        last: data,
        plies,
      });
    } else {
      return false; // a Thud.Board follows, or has been before
    }
    return true;
  }

  /** @param {any} data */
  onEnd(data) {
    const board = this.boards.get(data.board);
    if (board) this.boards.set(data.board, { ...board, turn: null, hint: null, end: data });
  }

  /** @param {any} hint */
  onHint(hint) {
    const board = this.boards.get(hint.board);
    if (board) this.boards.set(hint.board, { ...board, hint });
  }

  /** @param {{battle: number, done: number | null}} analysis */
  onAnalysis(analysis) {
    const { battle, done } = analysis;
    if (done === null) this.analyses.delete(battle);
    else this.analyses.set(battle, analysis);
    this.keepAnalyses();
  }

  /** Keep which battles are being analysed, for when the page is loaded again. */
  keepAnalyses() {
    const isUnfinished = (/** @type {any} */ { done, plies }) => done < plies;
    write(ANALYSES, [...this.analyses.values()].filter(isUnfinished), "sessionStorage");
  }

  /** @param {{code: string}} refused */
  onRefused({ code }) {
    if (!["analysis_failed", "no_analyses_rated", "nothing_analysed"].includes(code)) return;
    for (const [battle, { done, plies }] of this.analyses)
      if (done < plies) this.analyses.delete(battle);
    this.keepAnalyses();
  }

  /** @param {{room: string | null, people: any[]}} data */
  onHere({ people }) {
    this.people = people;
  }

  /** @param {{people: any[]}} data */
  onWho({ people }) {
    this.everybody = people;
  }

  /**
   * Whether a player is a bot, as far as is known.
   *
   * @param {string | null} name
   */
  isBot(name) {
    return this.bots.has(name) || this.someone(name)?.bot === true;
  }

  /**
   * Return what is known of somebody who is here.
   *
   * @param {string | null} name
   * @returns {any}
   */
  someone(name) {
    return [...this.people, ...this.everybody].find(({ player }) => player === name);
  }

  /** @param {{bots: {bot: string, level: number | null}[]}} data */
  onBots({ bots }) {
    for (const { bot, level } of bots) {
      this.bots.add(bot);
      if (level !== null) this.levels.set(bot, level);
    }
  }

  /** @param {any} data */
  onCame({ room, ...person }) {
    if (room !== this.me.room) return false;
    this.people = [...this.people.filter((each) => each.player !== person.player), person];
    return true;
  }

  /** @param {{room: string | null, player: string}} data */
  onWent({ room, player }) {
    if (room !== this.me.room) return false;
    this.people = this.people.filter((each) => each.player !== player);
    return true;
  }

  /** @param {{battle: number, moves: Played[] | null, outcome: string | null}} record */
  onRecord(record) {
    const { battle, moves, outcome } = record;
    const kept = read(ANALYSES, "sessionStorage") ?? [];
    const analysis = kept.find((/** @type {any} */ each) => each.battle === battle);
    if (analysis && this.me.player && !this.analyses.has(battle)) this.analyses.set(battle, analysis);
    for (const [name, board] of this.boards) {
      if (board.battle === battle && moves) {
        const plies = moves.filter((each) => each.ply <= board.ply);
        const end = board.end ?? (outcome ? record : null); // who came later was not told of it
        this.boards.set(name, { ...board, plies, end });
      }
    }
  }

  /** @param {{boards: string[]}} data */
  onObserve({ boards }) {
    this.observed = boards;
  }

  /**
   * Return what a tournament is called.
   *
   * @param {number} number
   */
  tournamentTitle(number) {
    return this.tournaments.get(number)?.title ?? `Tournament ${number}`;
  }

  /** @param {{tournament: number}} tournament */
  onTournament(tournament) {
    this.tournaments.set(tournament.tournament, tournament);
  }

  /** @param {{tournament: number}} table */
  onCrosstable(table) {
    this.crosstables.set(table.tournament, table);
  }

  /** @param {{on: boolean, board: string | null}} tv */
  onTv(tv) {
    this.tv = tv;
  }

  /** @param {{board: string, left: boolean}} exercise */
  onExercise(exercise) {
    const before = this.exercise?.board;
    if (before && before !== exercise.board) this.onClosed({ board: before });
    this.exercise = exercise.left ? null : exercise;
    if (exercise.left) this.onClosed(exercise);
  }

  /** @param {{board: string}} data */
  onClosed({ board }) {
    this.invites = this.invites.filter((each) => each.board !== board);
    this.tables.delete(board);
    this.boards.delete(board);
  }

  /** @param {{board: string, name: string}} data */
  onRenamed({ board, name }) {
    for (const known of [this.tables, this.boards]) {
      const value = known.get(board);
      known.delete(board);
      if (value) /** @type {Map<string, any>} */ (known).set(name, { ...value, board: name });
    }
    if (this.me.room === board) this.me = { ...this.me, room: name };
    this.observed = this.observed.map((each) => (each === board ? name : each));
    if (this.tv.board === board) this.tv = { on: true, board: name };
  }

  /** @param {Seek} seek */
  onSeek(seek) {
    this.seeks.set(seek.seek, seek);
  }

  /** @param {{seek: number, known?: Seek}} data */
  onSettled(data) {
    data.known = this.seeks.get(data.seek);
    this.seeks.delete(data.seek);
  }

  /** @param {any} invite */
  onInvite(invite) {
    this.invites = [...this.invites.filter((each) => each.board !== invite.board), invite];
  }

  /** @param {any} declined */
  onDeclined(declined) {
    if (declined.offer) return; // the table has lost it
    this.invites = this.invites.filter((each) => each.board !== declined.board);
  }
}

/**
 * Return who has a seat, or whether anybody may take it.
 *
 * @param {Seat | undefined} seat
 */
export function holder(seat) {
  return seat?.player ?? (seat?.kept_for ? "empty seat" : "free seat");
}

/** @param {string | null | undefined} time a time control */
export function isByDays(time) {
  return /day/.test(time ?? "");
}

/**
 * Return what a board is called: by the two who play there, or by its name.
 *
 * @param {Table | undefined} table
 * @param {string} board
 */
export function titleOf(table, board) {
  const [one, other] = (table?.seats ?? []).map((seat) => seat.player);
  return one && other && one !== other ? pairTitle(one, other) : capitalised(board);
}

/**
 * Return what a battle between two players is called.
 *
 * @param {string} one
 * @param {string} other
 */
export function pairTitle(one, other) {
  return `${one} – ${other}`;
}

/**
 * Whether an invitation to a board has no purpose any more: its seat is taken, or whoever wanted
 * company there has left.
 *
 * @param {{board: string, side: Side, player: string, battle: number | null}} invite
 * @param {Table} table
 */
function isSettled({ board, side, player, battle }, table) {
  if (board !== table.board) return false;
  const isTaken = table.seats.some((each) => each.side === side && each.player !== null);
  return isTaken || (battle === null && !table.seats.some((each) => each.player === player));
}

/**
 * How a ply is put together on the board: a piece, where it goes, and what it captures there.
 *
 * The server is asked what the piece may do (`Thud.Legal`). What comes out is a command, as anybody
 * might have typed it.
 */

import { say, warn } from "./announce.js";
import { NO_MARKS } from "./board.js";
import { settings } from "./settings.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./state.js").Board} Board */
/** @typedef {import("./board.js").Where} Where */

/**
 * @typedef {object} Way one way to play, of those that `Thud.Legal` lists
 * @property {string} verb
 * @property {string[]} to where it leads
 * @property {string[]} prey what may be captured by it
 * @property {number} least how many of them have to be
 * @property {number} most how many of them can be
 * @property {boolean} trample whether all of them are, in this order
 *
 * @typedef {Omit<Way, "to"> & {to: string}} Choice the same, to one square
 */

export class Mover {
  /** @type {Board | null} */
  board = null;

  /** @type {Side | null} */
  side = null;

  /** The square of the piece that is being moved. @type {string | null} */
  selected = null;

  /** What it can do; null until the server has said so. @type {Choice[] | null} */
  choices = null;

  /** Where it will go. @type {string | null} */
  landing = null;

  /** What it will capture there. @type {string[]} */
  chosen = [];

  /** Where it was to go before the server had said what it can do. @type {Where | null} */
  dropped = null;

  /** Whether it is a premove that is to be played. */
  isPremove = false;

  /** Whether it has been played, and the server has not answered yet. */
  isSent = false;

  /**
   * @param {object} outside
   * @param {(board: string, from: string) => void} outside.ask asks what a piece may do
   * @param {(line: string) => void} outside.send sends a command
   * @param {(marks: import("./board.js").Marks) => void} outside.show shows how far it has come
   * @param {(piece: string) => string} outside.whose says why a piece isn't the player's to move
   */
  constructor(outside) {
    this.outside = outside;
  }

  reset() {
    this.selected = this.choices = this.landing = this.dropped = null;
    this.chosen = [];
    this.isSent = this.isPremove = false;
  }

  /**
   * Take the board as it is now, and the side that the player may move for.
   *
   * @param {Board | null} board
   * @param {Side | null} side
   */
  set(board, side) {
    const isSame = board?.board === this.board?.board && board?.version === this.board?.version;
    if (isSame && side === this.side) return;
    [this.board, this.side] = [board, side];
    this.reset();
    this.show();
  }

  /**
   * Whether a square holds a piece that the player may move.
   *
   * @param {string | null} square
   */
  owns(square) {
    return square !== null && this.board !== null && ownsPiece(this.board, this.side, square);
  }

  /**
   * A square was clicked: a piece, where it goes, or what it captures.
   *
   * @param {Where} where
   */
  pick(where) {
    const square = where();
    if (this.isSent || !square) return;
    if (this.landing) {
      if (this.preys().has(square)) {
        this.choose(square);
        return;
      }
      if (square === this.landing && this.fitting()) {
        this.confirm();
        return;
      }
    }
    if (square === this.selected) this.cancel(`${square} is put back.`);
    else if (this.ways(square).length) this.aim(square);
    else if (this.owns(square)) this.select(square);
    else if (this.selected && !this.choices) this.dropped = where;
    else if (this.selected) this.refuse(`${this.selected} can’t go to ${square}, and is put back.`);
    else if (this.side && this.board) {
      const piece = this.board.position.get(square);
      if (piece) warn(this.outside.whose(piece));
      else say(`${square} is empty.`);
    } else if (this.board?.position.has(square) && !this.side) {
      warn(this.outside.whose(this.board.position.get(square) ?? ""));
    }
  }

  /**
   * A piece is about to be dragged; return whether it may be.
   *
   * @param {string} square
   */
  lift(square) {
    if (this.isSent || !this.owns(square)) return false;
    if (square !== this.selected || this.landing) this.select(square);
    return true;
  }

  /**
   * The piece that was dragged was let go.
   *
   * @param {Where} where
   */
  drop(where) {
    const square = where();
    if (!this.selected || square === this.selected) return;
    if (!square) this.cancel();
    else if (!this.choices) this.dropped = where;
    else if (this.ways(square).length) this.aim(square);
    else this.refuse(`${this.selected} can’t go to ${square}, and is put back.`);
  }

  /** @param {string} square */
  select(square) {
    this.reset();
    this.selected = square;
    if (this.board) this.outside.ask(this.board.board, square);
    this.show();
  }

  /**
   * Take what the server says that a piece may do.
   *
   * @param {{board: string, battle: number | null, ply: number, from: string, ways: Way[]}} legal
   */
  answered(legal) {
    if (legal.board !== this.board?.board || legal.from !== this.selected || this.choices) return;
    if (legal.battle !== this.board.battle || legal.ply !== this.board.ply) return; // more is on its way
    this.choices = legal.ways.flatMap((way) => way.to.map((to) => ({ ...way, to })));
    const squares = new Set(this.choices.map((each) => each.to));
    this.show();
    const target = this.isPremove ? this.dropped?.() : null;
    if (target) this.finishPremove(target);
    else if (this.dropped) this.drop(this.dropped);
    else if (squares.size) say(`${this.selected} can go to ${squares.size} squares.`);
    else this.refuse(`${this.selected} can’t move.`);
  }

  /**
   * Play a premove, if the rules allow it now.
   *
   * @param {import("./premove.js").Planned} planned
   */
  playPremove({ from, to }) {
    if (!this.owns(from)) {
      if (to) warn(`Premove cancelled: ${from} has no piece of yours any more.`);
      return;
    }
    this.select(from);
    if (!to) return;
    this.dropped = () => to;
    this.isPremove = true;
  }

  /**
   * Play a premove to a square: it captures all that it can. The player chooses if it can't have all.
   *
   * @param {string} to
   */
  finishPremove(to) {
    const { selected } = this;
    const ways = this.ways(to);
    if (!ways.length) {
      this.cancel();
      warn(`Premove cancelled: ${selected} can’t go to ${to} now.`);
      return;
    }
    const whole = ways.filter(({ trample, most, prey }) => trample || most === prey.length);
    const captures = whole.map(({ prey }) => prey).sort((a, b) => b.length - a.length)[0] ?? [];
    this.isPremove = false;
    this.landing = to;
    if (captures.length >= Math.max(...ways.map(({ most }) => most))) {
      this.chosen = [...captures];
      this.confirm();
    } else {
      this.show();
      warn("Choose what your premove captures.");
    }
  }

  /**
   * Give up, and say why.
   *
   * @param {string} [why]
   */
  cancel(why) {
    const wasSelected = this.selected !== null;
    this.reset();
    this.show();
    if (why || wasSelected) say(why ?? "");
  }

  /**
   * Refuse what was chosen, and show why.
   *
   * @param {string} why
   */
  refuse(why) {
    this.cancel();
    warn(why);
  }

  /**
   * Return the ways to play the piece to a square.
   *
   * @param {string | null} square
   */
  ways(square) {
    return (this.choices ?? []).filter((each) => each.to === square);
  }

  /**
   * Let the piece go somewhere; ask what it captures if there is a choice.
   *
   * @param {string} square
   */
  aim(square) {
    const ways = this.ways(square);
    const [only] = ways;
    this.landing = square;
    this.chosen = [];
    if (ways.length === 1 && only.least === only.prey.length) {
      this.chosen = [...only.prey];
      this.confirm();
      return;
    }
    const [greedy] = ways
      .filter((each) => !each.trample && each.most === each.prey.length)
      .sort((one, other) => other.prey.length - one.prey.length);
    if (greedy) this.chosen = [...greedy.prey];
    if (settings.capturesAll && this.side === "troll" && this.captureAll()) return;
    this.show();
    const choose = `Choose which to capture: ${[...this.preys()].join(", ")}.`;
    say(`To ${square}. ${this.chosen.length ? this.chosenWords() : choose}`);
  }

  /** Return what is chosen to be captured, as sentences, and how to confirm it if it can be. */
  chosenWords() {
    const { chosen } = this;
    const all = new Set(this.ways(this.landing).flatMap(({ prey }) => prey));
    const isAll = chosen.length > 1 && chosen.length === all.size;
    const what = chosen.join(", ") || "nothing";
    const confirm = this.fitting() ? ` Press Enter on ${this.landing} to confirm.` : "";
    return `Capturing ${isAll ? `all ${chosen.length}: ` : ""}${what}.${confirm}`;
  }

  /** Play the move that captures all that can be captured; return whether there is just one. */
  captureAll() {
    const preys = new Set(this.ways(this.landing).flatMap(({ prey }) => prey));
    const isAll = preys.size > 0 && [...preys].every((each) => this.chosen.includes(each));
    if (isAll && this.fitting()) this.confirm();
    return this.isSent;
  }

  /**
   * Capture something, or do not.
   *
   * @param {string} square
   */
  choose(square) {
    const { chosen } = this;
    if (chosen.includes(square)) {
      const at = chosen.indexOf(square);
      const isInOrder = this.ways(this.landing).some((each) => each.trample);
      this.chosen = isInOrder ? chosen.slice(0, at) : chosen.filter((each) => each !== square);
    } else {
      this.chosen = [...chosen, square];
    }
    this.show();
    const isOver = this.fitting() && ![...this.preys()].some((each) => !this.chosen.includes(each));
    const isOnly = this.ways(this.landing).every((each) => each.most <= 1 || each.trample);
    if (isOver && isOnly && this.chosen.length) this.confirm();
    else say(this.chosenWords());
  }

  /** Return what can be chosen now, and what is. */
  preys() {
    const { chosen } = this;
    const preys = new Set(chosen);
    for (const { trample, prey, most } of this.ways(this.landing)) {
      if (trample) {
        if (chosen.every((each, at) => prey[at] === each) && prey[chosen.length]) {
          preys.add(prey[chosen.length]);
        }
      } else if (chosen.length < most && chosen.every((each) => prey.includes(each))) {
        for (const each of prey) preys.add(each);
      }
    }
    return preys;
  }

  /** Return the way to play that captures what is chosen, if there is one. */
  fitting() {
    return this.ways(this.landing).find(({ trample, prey, least, most }) =>
      trample
        ? prey.join() === this.chosen.join()
        : least <= this.chosen.length &&
          this.chosen.length <= most &&
          this.chosen.every((each) => prey.includes(each)),
    );
  }

  /** Play it. */
  confirm() {
    const way = this.fitting();
    if (!way || !this.board || this.isSent) return;
    const names = this.chosen.join(", ") || "none";
    const capturing = way.prey.length ? ` capturing ${names}` : "";
    this.isSent = true;
    this.show();
    this.outside.send(
      `${way.verb} ${this.selected} to ${way.to}${capturing} on ${this.board.board}`,
    );
  }

  show() {
    const { selected, landing, chosen } = this;
    if (!selected) {
      this.outside.show(NO_MARKS);
      return;
    }
    const isOpen = !landing && this.choices;
    const targets = new Map();
    for (const { to, prey } of isOpen || []) {
      if (targets.get(to) !== "take") targets.set(to, prey.length ? "take" : "go");
    }
    const preys = landing && !this.isSent ? this.preys() : new Set();
    this.outside.show({ selected, targets, preys, chosen: this.isSent ? [] : chosen, landing });
  }
}

/**
 * Whether a piece on a board is moved by a side.
 *
 * @param {Board} board
 * @param {Side | null} side
 * @param {string} square
 */
export function ownsPiece({ position }, side, square) {
  const piece = position.get(square);
  return side !== null && (piece === side || (piece === "rock" && side === "dwarf"));
}

/**
 * Premoves: a move that is chosen during the opponent's turn, and played as soon as it is over.
 *
 * Any square can be the target, since what is legal then depends on the opponent's move. The server
 * is asked what the piece could do now, which is shown as a guide.
 */

import { say, warn } from "./announce.js";
import { NO_MARKS } from "./board.js";
import { HAS_KEYS } from "./dom.js";
import { ownsPiece } from "./mover.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./state.js").Board} Board */
/** @typedef {import("./board.js").Where} Where */
/** @typedef {{from: string, to: string | null}} Planned without a target, the piece is only picked up */

export class Premove {
  /** @type {Board | null} */
  board = null;

  /** The side to choose a premove for; null if there can be none now. @type {Side | null} */
  side = null;

  /** The square of the piece that was picked up. @type {string | null} */
  selected = null;

  /** Where it could go now. @type {import("./board.js").Marks["targets"]} */
  targets = new Map();

  /** The square where it will go. @type {string | null} */
  target = null;

  /**
   * @param {object} outside
   * @param {(board: string, from: string) => void} outside.ask asks what a piece may do
   * @param {(marks: import("./board.js").Marks) => void} outside.show
   */
  constructor(outside) {
    this.outside = outside;
  }

  /**
   * Follow the battle; return the premove if it is to be played now.
   *
   * @param {Board | null} board
   * @param {Side | null} side the side to choose a premove for, during the opponent's turn
   * @param {boolean} isMyTurn
   * @returns {Planned | null}
   */
  follow(board, side, isMyTurn) {
    const { board: before, selected: from, target: to } = this;
    const isSameBattle = board?.board === before?.board && board?.battle === before?.battle;
    const isSame = isSameBattle && board?.ply === before?.ply && side === this.side;
    [this.board, this.side] = [board, side];
    if (isSame || !from) return null;
    this.reset();
    if (isMyTurn && isSameBattle && board?.ply === (before?.ply ?? 0) + 1) return { from, to };
    this.show();
    if (to && isSameBattle && board?.turn) warn("Premove cancelled.");
    return null;
  }

  reset() {
    this.selected = this.target = null;
    this.targets = new Map();
  }

  /**
   * A square was clicked.
   *
   * @param {Where} where
   */
  pick(where) {
    const square = where();
    if (!square) return;
    if (this.target) this.cancel("Premove cancelled.");
    else if (square === this.selected) this.cancel();
    else if (this.owns(square)) this.select(square);
    else if (this.selected) this.plan(square);
    else if (this.board?.position.has(square)) warn("It’s not your turn.");
  }

  /** @param {string} square */
  lift(square) {
    if (!this.owns(square)) return false;
    if (square !== this.selected || this.target) this.select(square);
    return true;
  }

  /** @param {Where} where */
  drop(where) {
    const square = where();
    if (!square) this.cancel();
    else if (this.selected && square !== this.selected) this.plan(square);
  }

  /** @param {string} square */
  owns(square) {
    return this.board !== null && ownsPiece(this.board, this.side, square);
  }

  /** @param {string} square */
  select(square) {
    this.reset();
    this.selected = square;
    if (this.board) this.outside.ask(this.board.board, square);
    this.show();
    say(`Premove from ${square}: choose where it goes.`);
  }

  /** @param {string} square */
  plan(square) {
    this.target = square;
    this.show();
    const how = HAS_KEYS ? "Press Esc" : "Tap the board";
    say(`Premove: ${this.selected} to ${square}. ${how} to cancel it.`);
  }

  /**
   * Take what the server says that a piece could do now.
   *
   * @param {{board: string, ply: number, from: string, ways: import("./mover.js").Way[]}} legal
   */
  answered(legal) {
    const { board } = this;
    if (!this.side || legal.from !== this.selected) return;
    if (legal.board !== board?.board || legal.ply !== board.ply) return;
    for (const { to, prey } of legal.ways)
      for (const square of to) this.targets.set(square, prey.length ? "take" : "go");
    this.show();
  }

  /**
   * Give up, and say so.
   *
   * @param {string} [words]
   */
  cancel(words) {
    if (!this.selected) return;
    this.reset();
    this.show();
    if (words) say(words);
  }

  show() {
    const { selected, target } = this;
    const planned = selected && target ? [selected, target] : [];
    const isOpen = selected && !target;
    const targets = isOpen ? this.targets : NO_MARKS.targets;
    this.outside.show({ ...NO_MARKS, selected: isOpen ? selected : null, targets, planned });
  }
}

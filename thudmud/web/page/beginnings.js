/**
 * Battles of the player that begin: in view, in place of another, or elsewhere.
 */

import { say, untoast, warn } from "./announce.js";
import { closeShared } from "./dialogs.js";
import { change } from "./settings.js";

/** @typedef {import("./state.js").State} State */

const NEW = 3000; // milliseconds for which a battle has only just begun

export class Beginnings {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {import("./challenges.js").Challenges} outside.challenges
   * @param {() => boolean} outside.isAsked returns whether the player has asked for the battle
   * @param {() => void} outside.rest ignores clicks for a moment
   * @param {() => void} outside.keepFocus puts the focus on the board if it was lost
   */
  constructor(state, outside) {
    this.state = state;
    this.outside = outside;
    /** The battle in view that the player plays. @type {number | null} */
    this.played = null;
    /** The board of the last such battle, and when it was last in view. */
    this.last = { board: "", at: 0 };
    /** The battles that were ever known to be under way, and since when. @type {Map<number, number>} */
    this.begun = new Map();
  }

  /**
   * Scroll to the board, and put the focus on it if it was lost, when a battle begins: a clock may
   * be running.
   *
   * @param {string | null} board in view
   */
  goTo(board) {
    const { state, last } = this;
    const table = board === null ? undefined : state.tables.get(board);
    const battle = table?.running && state.sides(table).length ? table.battle : null;
    const now = performance.now();
    if (battle !== null && battle !== this.played) {
      closeShared(); // somebody has come by the link
      const isNew = now - (this.begun.get(battle) ?? now) < NEW;
      const isFrom = this.played !== null || now - last.at < NEW;
      untoast(""); // of what has led there
      if (isNew && isFrom && ![board, ""].includes(last.board)) this.interrupt(last.board, String(board));
      this.outside.keepFocus();
      scrollTo(0, 0);
    }
    if (this.played !== null || battle !== null) last.at = now;
    if (battle !== null) last.board = String(board);
    this.played = battle;
  }

  /**
   * Tell a player whose battle goes on elsewhere that another has begun in its place.
   *
   * @param {string} before the board of the battle that waits
   * @param {string} board
   */
  interrupt(before, board) {
    const { state, outside } = this;
    const { challenges } = outside;
    const opponent = (/** @type {string} */ each) =>
      state.tables.get(each)?.seats.find(({ player }) => player !== state.me.player)?.player ?? null;
    if (outside.isAsked()) return; // they know
    if (state.isBot(opponent(board)) || state.sides(state.tables.get(board)).length > 1) return;
    challenges.waiting = { board: before, other: opponent(before), at: board, by: opponent(board) };
    outside.rest();
    if (!challenges.isWaiting()) return;
    challenges.show();
    say(challenges.waitingWords);
  }

  /**
   * Tell a player whose battle begins while they look at something else: a clock may be running.
   *
   * @param {(board: string) => string} words returns what is said of a board; "" for nothing
   */
  tell(words) {
    for (const table of this.state.tables.values()) {
      const { battle, board, running } = table;
      if (!running || battle === null || this.state.sides(table).length !== 1) continue;
      if (this.begun.has(battle)) continue;
      warn(words(board));
      this.begun.set(battle, performance.now());
      change({ hasPlayed: true });
    }
  }
}

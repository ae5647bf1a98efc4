/**
 * Where the focus goes when what had it has gone.
 */

import { byId } from "./dom.js";

/** @typedef {import("./state.js").State} State */

const SETTLED = 50; // milliseconds within which all facts of what has happened are known

/** Whether what had the focus has gone, as a button does that was pressed. */
export function isFocusGone() {
  const { activeElement, body } = document;
  return !activeElement || activeElement === body || !activeElement.checkVisibility();
}

/** Whether the focus is on nothing that can be used any more. */
export function isFocusLost() {
  const { activeElement } = document;
  if (isFocusGone() || activeElement?.matches("h1")) return true;
  return byId("challenges").contains(activeElement);
}

export class Focus {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {() => string | null} outside.inView returns the board in view
   * @param {() => void} outside.focusBoard puts the focus on it
   */
  constructor(state, outside) {
    this.state = state;
    this.outside = outside;
    /** @type {number | undefined} */
    this.settling = undefined;
  }

  /** Put the focus where play goes on, once all facts of what has happened are known. */
  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.take(), SETTLED);
  }

  /**
   * Put the focus on the title of what is shown now, or on one's own board, if it was on something
   * that has gone, or on what has led here.
   */
  take() {
    const { view } = document.body.dataset;
    const title = view === "welcome" ? null : document.getElementById(`${view}-title`);
    const isOnPlace = byId("places").contains(document.activeElement);
    if (!title || !(isOnPlace || isFocusLost())) return;
    const board = this.outside.inView();
    if (board && !this.state.isCurrent(board)) {
      this.settle();
      return;
    }
    if (board && this.state.sides(this.state.tables.get(board)).length) {
      this.outside.focusBoard();
      return;
    }
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
  }
}

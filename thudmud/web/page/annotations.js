/**
 * Arrows and circles that somebody draws on a board by the right button; a click clears them.
 */

/** @typedef {import("./board.js").Annotation} Annotation */

export class Annotations {
  /**
   * @param {import("./board.js").BoardView} view
   * @param {() => void} changed
   */
  constructor(view, changed) {
    this.view = view;
    this.changed = changed;
    /** @type {Annotation[]} */
    this.drawn = [];
    /** The square where the right button was pressed. @type {string | null} */
    this.from = null;
    const { element } = view;
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("pointerdown", (event) => this.pressed(event));
    element.addEventListener("pointerup", (event) => this.released(event));
  }

  clear() {
    if (!this.drawn.length) return;
    this.drawn = [];
    this.changed();
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    this.from = null;
    if (event.button === 0) this.clear();
    else if (event.button === 2) this.from = this.view.squareAt(event);
  }

  /** @param {PointerEvent} event */
  released(event) {
    const { from } = this;
    const square = this.view.squareAt(event);
    if (event.button !== 2 || !from || !square) return;
    this.from = null;
    this.toggle(from, square === from ? null : square);
  }

  /**
   * Draw an arrow, or a circle; or remove it, if it is there.
   *
   * @param {string} from
   * @param {string | null} to null for a circle
   */
  toggle(from, to) {
    const others = this.drawn.filter((each) => each.from !== from || each.to !== to);
    const isNew = others.length === this.drawn.length;
    this.drawn = isNew ? [...others, { from, to, kind: "drawn" }] : others;
    this.changed();
  }
}

/**
 * The board: an SVG that is drawn from a position, and tells what is clicked, dragged and typed on it.
 *
 * For a screen reader it is a grid, of rows and cells, of which one is in the order of the Tab key;
 * the arrows go from cell to cell. What the pieces may do is not known here.
 */

import { svg } from "./dom.js";
import { ROWS, SIZE, letterOf, placeOf, squareAt } from "./position.js";

/** @typedef {import("./position.js").Position} Position */
/** @typedef {import("./position.js").Piece} Piece */

/**
 * @typedef {object} Marks what is shown besides the pieces
 * @property {string | null} selected the piece that is being moved
 * @property {ReadonlyMap<string, "go" | "take">} targets where it may go
 * @property {ReadonlySet<string>} preys what it may capture there
 * @property {readonly string[]} chosen which of them it will
 * @property {string | null} landing where it will go
 * @property {readonly string[]} [planned] from where to where a premove goes
 *
 * @typedef {{from: string, to: string | null, kind: string}} Annotation an arrow, or a circle
 *
 * @typedef {() => string | null} Where tells on which square: near what can be done now, for a finger
 *
 * @typedef {object} Handlers
 * @property {(where: Where) => void} pick a square was clicked, or chosen by the keyboard
 * @property {(square: string) => boolean} lift a piece is about to be dragged; whether it may be
 * @property {(where: Where) => void} drop and was let go, over no square perhaps
 * @property {(key: string, square: string) => boolean} key another key was typed on a square;
 *   whether it means something
 */

const MARGIN = 0.62; // for the letters and numbers beside the squares, and as much on the other sides
const FRAME = 0.14; // how wide the edge round them is
const EXTENT = SIZE + 2 * MARGIN;
const SNAP = 0.85; // how far beside a piece a finger still means it, in squares
const DRAG = 0.3; // how far a piece is dragged before it follows, in squares
const NAMES = { dwarf: "dwarf", troll: "troll", stone: "Thudstone", rock: "Rock" };
const STEPS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** Whether the player uses the keyboard just now, as far as is known. */
let isByKeys = false;
document.addEventListener("keydown", () => (isByKeys = true), true);
document.addEventListener("pointerdown", () => (isByKeys = false), true);

/** @type {Marks} */
export const NO_MARKS = {
  selected: null,
  targets: new Map(),
  preys: new Set(),
  chosen: [],
  landing: null,
};

export class BoardView {
  /**
   * @param {Element} host where it is put
   * @param {Handlers} handlers
   */
  constructor(host, handlers) {
    this.handlers = handlers;
    this.isFlipped = false;
    /** @type {Position} */
    this.position = new Map();
    /** @type {Marks} */
    this.marks = NO_MARKS;
    /** @type {{from: string, to: string, captures: string[]} | null} */
    this.last = null;
    /** @type {{from: string, to: string} | null} */
    this.hint = null;
    /** What a lesson speaks of. @type {ReadonlySet<string>} */
    this.named = new Set();
    this.focus = "G1";
    /** @type {Map<string, {kind: Piece, element: SVGElement}>} */
    this.pieces = new Map();
    /** @type {Map<string, SVGElement>} */
    this.cells = new Map();
    /** @type {{square: string, x: number, y: number, moves: boolean, over?: string | null} | null} */
    this.drag = null;
    this.grid = svg("g", {
      role: "grid",
      class: "cells",
      "aria-label": "Board",
      "aria-rowcount": SIZE,
      "aria-colcount": SIZE,
    });
    this.under = svg("g", { class: "under", "aria-hidden": "true" });
    this.men = svg("g", { class: "men", "aria-hidden": "true" });
    this.over = svg("g", { class: "over", "aria-hidden": "true" });
    /** Where the focus is, or where a dragged piece would go, over whatever is marked there. */
    this.ring = svg("g", { class: "ring" }, ring(), ring());
    this.notes = svg("g", { class: "notes", "aria-hidden": "true" });
    /** Arrows and circles on it. @type {readonly Annotation[]} */
    this.annotations = [];
    this.labels = svg("g", { class: "labels", "aria-hidden": "true" });
    this.element = svg(
      "svg",
      { class: "board", role: "none", viewBox: `${-MARGIN} ${-MARGIN} ${EXTENT} ${EXTENT}` },
      svg("path", { class: "edge", d: outline(FRAME) }),
      this.labels,
      this.grid,
      this.under,
      this.men,
      this.over,
      this.notes,
    );
    host.append(this.element);
    this.lay();
    this.listen(host);
  }

  /**
   * Show a position.
   *
   * @param {Position} position
   * @param {{from: string, to: string, captures: string[]} | null} last the last ply
   * @param {string} label what the board is called
   * @param {{from: string, to: string} | null} [hint] what the player is advised to play
   */
  show(position, last, label, hint = null) {
    this.hint = hint;
    this.grid.setAttribute("aria-label", label);
    if (position !== this.position || last !== this.last) {
      this.place(position);
      this.position = position;
      this.last = last;
    }
    this.paint();
  }

  /**
   * Mark the squares that are spoken of beside the board.
   *
   * @param {ReadonlySet<string>} squares
   */
  name(squares) {
    if (squares === this.named) return;
    this.named = squares;
    this.paint();
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    this.paint();
  }

  /** @param {readonly Annotation[]} annotations arrows and circles, instead of those before */
  annotate(annotations) {
    this.annotations = annotations;
    this.drawAnnotations();
  }

  /** @param {boolean} isFlipped whether row 1 is at the bottom */
  flip(isFlipped) {
    if (isFlipped === this.isFlipped) return;
    this.isFlipped = isFlipped;
    this.lay();
    for (const [square, { element }] of this.pieces) this.put(element, square);
    this.drawAnnotations();
    this.paint();
  }

  /**
   * Put the focus on a square.
   *
   * @param {string} square
   * @param {boolean} [isShown] whether the focus moves there now
   */
  point(square, isShown = true) {
    this.cells.get(this.focus)?.setAttribute("tabindex", "-1");
    this.focus = square;
    const cell = this.cells.get(square);
    cell?.setAttribute("tabindex", "0");
    this.put(this.ring, square);
    if (isShown && isByKeys) this.element.classList.add("keys");
    if (isShown) cell?.focus();
  }

  /** Whether the focus is on one of its squares. */
  hasFocus() {
    const root = /** @type {Document | ShadowRoot} */ (this.grid.getRootNode());
    return this.grid.contains(root.activeElement ?? null);
  }

  // Drawing.

  /** Make the cells, row by row as they are seen. */
  lay() {
    const had = this.hasFocus();
    const rows = this.isFlipped ? ROWS.map((row) => [...row].reverse()).reverse() : ROWS;
    this.cells.clear();
    this.grid.replaceChildren(
      ...rows.map((row, each) =>
        svg(
          "g",
          { role: "row", "aria-rowindex": each + 1, "aria-label": `row ${row.find(Boolean)?.slice(1)}` },
          ...row.map((square) => this.cell(/** @type {string} */ (square))),
        ),
      ),
    );
    this.labels.replaceChildren(
      ...ROWS.flatMap((_, each) => {
        const at = this.isFlipped ? SIZE - 1 - each : each;
        return [
          svg("text", { x: at + 0.5, y: -0.36 }, letterOf(each)),
          svg("text", { class: "number", x: -0.21, y: at + 0.5 }, String(each + 1)),
        ];
      }),
    );
    if (had) this.point(this.focus);
  }

  /** @param {string} square */
  cell(square) {
    const { column, row } = placeOf(square);
    const cell = svg(
      "g",
      {
        role: "gridcell",
        "aria-colindex": this.corner(square).x + 1,
        class: (column + row) % 2 ? "cell odd" : "cell",
        tabindex: square === this.focus ? 0 : -1,
        "data-square": square,
      },
      svg("rect", { width: 1, height: 1 }),
    );
    this.put(cell, square);
    this.cells.set(square, cell);
    return cell;
  }

  /** @param {string} square */
  corner(square) {
    const { column, row } = placeOf(square);
    return this.isFlipped ? { x: SIZE - 1 - column, y: SIZE - 1 - row } : { x: column, y: row };
  }

  /**
   * @param {SVGElement} element
   * @param {string} square
   */
  put(element, square) {
    const { x, y } = this.corner(square);
    element.style.transform = `translate(${x}px, ${y}px)`;
    return element;
  }

  /**
   * Move the pieces to where they stand in a position: one that has gone from one square and come to
   * another moves there.
   *
   * @param {Position} position
   */
  place(position) {
    const gone = [...this.pieces].filter(([square, { kind }]) => position.get(square) !== kind);
    const come = [...position].filter(([square, kind]) => this.pieces.get(square)?.kind !== kind);
    for (const [square] of gone) this.pieces.delete(square);
    const moves = come.length <= 2; // else it is another position
    for (const [square, kind] of come) {
      const at = moves ? gone.findIndex(([, each]) => each.kind === kind) : -1;
      const element = at < 0 ? this.piece(kind) : gone.splice(at, 1)[0][1].element;
      if (at >= 0) this.men.append(element); // above those that it passes
      this.pieces.set(square, { kind, element: this.put(element, square) });
    }
    for (const [, { element }] of gone) {
      if (moves) vanish(element);
      else element.remove();
    }
  }

  /** @param {Piece} kind */
  piece(kind) {
    const element = svg(
      "g",
      { class: `man ${kind}` },
      svg("use", { href: `#${kind}`, width: 1, height: 1 }),
    );
    this.men.append(element);
    return element;
  }

  /** Draw the marks, and tell the cells what is on them. */
  paint() {
    const { selected, targets, preys, chosen, landing, planned = [] } = this.marks;
    const last = this.last ? [this.last.from, this.last.to] : [];
    const hint = this.hint ? [this.hint.from, this.hint.to] : [];
    const fallen = this.last?.captures ?? [];
    const isFree = (/** @type {string} */ square) => !this.position.has(square);
    this.under.replaceChildren(
      ...last.map((square) => this.tint(square, "last")),
      ...fallen.filter((each) => !last.includes(each)).map((each) => this.tint(each, "fallen")),
      ...hint.map((square) => this.tint(square, "hint")),
      ...planned.map((square) => this.tint(square, "planned")),
      ...(selected ? [this.tint(selected, "selected")] : []),
      ...(landing ? [this.tint(landing, "selected")] : []),
      ...[...targets].filter(([to]) => isFree(to)).map(([to, kind]) => this.dot(to, kind)),
    );
    this.over.replaceChildren(
      ...[...this.named].map((square) => this.dot(square, "named")),
      ...[...targets].filter(([to]) => !isFree(to)).map(([to, kind]) => this.dot(to, kind)),
      ...[...preys].map((square) => this.dot(square, chosen.includes(square) ? "chosen" : "prey")),
      this.put(this.ring, this.drag?.over ?? this.focus),
    );
    for (const [square, { element }] of this.pieces) {
      if (square !== this.drag?.square)
        this.put(element, (square === selected && landing) || square);
    }
    for (const [square, cell] of this.cells) {
      const piece = this.position.get(square);
      const words = [square, piece ? NAMES[piece] : "empty"];
      if (last.includes(square) || fallen.includes(square)) words.push("last move");
      if (hint.includes(square)) words.push("hint");
      if (this.named.has(square)) words.push("named in the lesson");
      if (square === selected) words.push("picked up");
      if (targets.has(square))
        words.push(targets.get(square) === "go" ? "can go here" : "can capture here");
      if (square === landing) words.push("goes here");
      if (planned.includes(square)) words.push("premove");
      if (preys.has(square))
        words.push(chosen.includes(square) ? "to be captured" : "can be captured");
      cell.setAttribute("aria-label", words.join(", "));
      const isSelected = square === selected || chosen.includes(square);
      // Other squares can't be selected, which is not the same as not being selected.
      if (isSelected || preys.has(square)) cell.setAttribute("aria-selected", String(isSelected));
      else cell.removeAttribute("aria-selected");
    }
  }

  /**
   * @param {string} square
   * @param {string} name
   */
  tint(square, name) {
    return this.put(svg("rect", { class: name, width: 1, height: 1 }), square);
  }

  /**
   * @param {string} square
   * @param {string} kind
   */
  dot(square, kind) {
    const radius = kind === "go" && !this.position.has(square) ? 0.15 : 0.44;
    return this.put(svg("circle", { class: kind, cx: 0.5, cy: 0.5, r: radius }), square);
  }

  drawAnnotations() {
    this.notes.replaceChildren(
      ...this.annotations.map(({ from, to, kind }) =>
        to ? this.arrow(from, to, kind) : this.dot(from, `circle ${kind}`),
      ),
    );
  }

  /**
   * @param {string} from
   * @param {string} to
   * @param {string} kind
   */
  arrow(from, to, kind) {
    const [start, end] = [this.corner(from), this.corner(to)];
    const [dx, dy] = [end.x - start.x, end.y - start.y];
    const length = Math.hypot(dx, dy);
    const shaft = length - 0.45; // to the base of the head
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    const outlined = `M0.2,-0.09H${shaft}V-0.26L${length},0L${shaft},0.26V0.09H0.2Z`;
    const place = `translate(${start.x + 0.5} ${start.y + 0.5}) rotate(${angle})`;
    return svg("path", { class: `arrow ${kind}`, d: outlined, transform: place });
  }

  // What is done with it.

  /** @param {Element} host listens for the focus: Chromium stops the Tab key at an SVG that does */
  listen(host) {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => this.pressed(event));
    element.addEventListener("pointermove", (event) => this.dragged(event));
    element.addEventListener("pointerup", (event) => this.released(event));
    element.addEventListener("pointercancel", () => this.putBack());
    element.addEventListener("touchstart", (event) => this.touched(event), { passive: false });
    element.addEventListener("keydown", (event) => this.typed(event));
    for (const kind of ["keydown", "keyup"]) // a Tab that leads here is let go here
      element.addEventListener(kind, () => element.classList.add("keys"));
    element.addEventListener("pointerdown", () => element.classList.remove("keys"));
    host.addEventListener("focusin", (event) => {
      const square = /** @type {Element} */ (event.target)
        .closest("[data-square]")
        ?.getAttribute("data-square");
      if (square) this.point(square, false);
    });
  }

  /**
   * Return where a pointer is, in squares from the corner of the board as it is seen.
   *
   * @param {{clientX: number, clientY: number}} event
   */
  spot(event) {
    const box = this.element.getBoundingClientRect();
    const unit = box.width / EXTENT;
    return {
      x: (event.clientX - box.left) / unit - MARGIN,
      y: (event.clientY - box.top) / unit - MARGIN,
    };
  }

  /**
   * Return the square at a spot; what means something, if that is close and the pointer is a finger.
   *
   * @param {{x: number, y: number}} spot
   * @param {{pointerType: string}} event
   */
  squareOf({ x, y }, event) {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const end = SIZE - 1;
    const square = this.isFlipped ? squareAt(end - column, end - row) : squareAt(column, row);
    if (event.pointerType === "mouse" || (square && this.means(square))) return square;
    let [nearest, least] = [square, SNAP];
    for (const each of this.cells.keys()) {
      if (!this.means(each)) continue;
      const corner = this.corner(each);
      const distance = Math.hypot(corner.x + 0.5 - x, corner.y + 0.5 - y);
      if (distance < least) [nearest, least] = [each, distance];
    }
    return nearest;
  }

  /**
   * Return the square under a pointer.
   *
   * @param {PointerEvent} event
   */
  squareAt(event) {
    const { x, y } = this.spot(event);
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const end = SIZE - 1;
    return this.isFlipped ? squareAt(end - column, end - row) : squareAt(column, row);
  }

  /**
   * Return what tells the square at a spot, whenever it is asked.
   *
   * @param {{x: number, y: number}} spot
   * @param {PointerEvent} event
   * @returns {Where}
   */
  where(spot, event) {
    return () => this.squareOf(spot, event);
  }

  /**
   * Whether something can be done with a square.
   *
   * @param {string} square
   */
  means(square) {
    const { selected, targets, preys, landing } = this.marks;
    if (landing) return preys.has(square) || square === landing;
    return targets.has(square) || square === selected || (!selected && this.position.has(square));
  }

  /**
   * Keep the page from scrolling if a piece is touched, as it may be dragged. Browsers don't heed
   * `touch-action` within an SVG.
   *
   * @param {TouchEvent} event
   */
  touched(event) {
    const [touch, second] = event.touches;
    if (second || !this.element.matches(".mine, .ahead")) return;
    const square = this.squareOf(this.spot(touch), { pointerType: "touch" });
    if (square && this.position.has(square)) event.preventDefault();
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    const spot = this.spot(event);
    const square = this.squareOf(spot, event);
    if (!square) return;
    event.preventDefault(); // the focus is set below
    this.point(square);
    this.drag = { square, ...spot, moves: false };
    this.element.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  dragged(event) {
    if (!this.drag) return;
    const { x, y } = this.spot(event);
    if (!this.drag.moves) {
      if (Math.hypot(x - this.drag.x, y - this.drag.y) < DRAG) return;
      if (!this.handlers.lift(this.drag.square)) {
        this.drag = null;
        return;
      }
      this.drag.moves = true;
    }
    const piece = this.pieces.get(this.drag.square);
    if (!piece) return;
    piece.element.classList.add("dragged");
    piece.element.classList.toggle("touched", event.pointerType === "touch");
    piece.element.style.transform = `translate(${x - 0.5}px, ${y - 0.5}px)`;
    if (this.men.lastChild !== piece.element) this.men.append(piece.element);
    this.drag.over = this.squareOf({ x, y }, event);
    this.put(this.ring, this.drag.over ?? this.focus);
  }

  /** @param {PointerEvent} event */
  released(event) {
    const { drag } = this;
    if (!drag) return;
    this.drag = null;
    this.pieces.get(drag.square)?.element.classList.remove("dragged");
    if (drag.moves) this.handlers.drop(this.where(this.spot(event), event));
    else this.handlers.pick(this.where(drag, event));
    this.paint();
  }

  putBack() {
    if (this.drag) this.pieces.get(this.drag.square)?.element.classList.remove("dragged");
    this.drag = null;
    this.paint();
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { focus } = this;
    const step = STEPS[event.key];
    if (step) this.step(step);
    else if (event.key === "Enter" || event.key === " ") this.handlers.pick(() => focus);
    else if (event.key === "Home" || event.key === "End") this.end(event.key === "Home");
    else if (!this.handlers.key(event.key, focus)) return;
    event.preventDefault();
  }

  /** @param {[number, number]} step as it is seen */
  step([right, down]) {
    const { column, row } = placeOf(this.focus);
    const turned = this.isFlipped ? -1 : 1;
    const next = squareAt(column + turned * right, row + turned * down);
    if (next) this.point(next);
  }

  /** @param {boolean} isFirst whether to go to the first square of the row, not to the last */
  end(isFirst) {
    const row = ROWS[placeOf(this.focus).row];
    const square = row.at(isFirst === this.isFlipped ? -1 : 0);
    if (square) this.point(square);
  }
}

/** @param {SVGElement} element */
function vanish(element) {
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.classList.add("captured");
  element
    .animate([{ opacity: 1 }, { opacity: 0 }], { duration: quiet ? 0 : 350, easing: "ease-in" })
    .finished.then(() => element.remove());
}

/**
 * Return the outline of the board, so far outside of its squares.
 *
 * @param {number} by
 */
function outline(by) {
  const [near, far] = [5 - by * 0.42, 10 + by * 0.42];
  const [low, high] = [-by, SIZE + by];
  const corners = [
    [near, low],
    [far, low],
    [high, near],
    [high, far],
    [far, high],
    [near, high],
    [low, far],
    [low, near],
  ];
  return `M${corners.map((each) => each.join(",")).join("L")}Z`;
}

/** Return one line of the ring around the square that has the focus. */
function ring() {
  return svg("rect", { x: 0.08, y: 0.08, width: 0.84, height: 0.84, rx: 0.06 });
}

/**
 * The list of the plies of a battle, to step through.
 */

import { clockText, fill, h, svg } from "./dom.js";
import { shortPly, unplayed } from "./position.js";

/** @typedef {import("./position.js").Ply & {ply: number, record: string, spent?: number | null}} Played */
/** @typedef {import("./position.js").Position} Position */

/**
 * Return a battle as it stood after one of its plies.
 *
 * @param {{position: Position, ply: number, plies: Played[]}} board
 * @param {number} ply
 */
export function asOf(board, ply) {
  const after = board.plies.filter((each) => each.ply > ply);
  return {
    position: after.reduceRight(unplayed, board.position),
    last: board.plies.find((each) => each.ply === ply) ?? null,
  };
}

/** Keys in the list, and to which ply they lead from another. */
const KEYS = /** @type {Record<string, (ply: number) => number>} */ ({
  ArrowLeft: (ply) => ply - 1,
  ArrowRight: (ply) => ply + 1,
  ArrowUp: (ply) => ply - 2,
  ArrowDown: (ply) => ply + 2,
  Home: () => 0,
  End: () => Infinity,
});
const SAID = /** @type {Record<string, string>} */ ({
  "?!": "an inaccuracy",
  "?": "a mistake",
  "??": "a blunder",
});

/**
 * Return what a list calls a ply. It begins with what is seen there, which is what is said to a
 * computer that is controlled by voice.
 *
 * @param {import("./position.js").Ply} ply
 * @param {number} number
 * @param {{time?: string, mark?: string}} [more]
 */
export function plyLabel(ply, number, { time = "", mark = "" } = {}) {
  const captures = ply.captures.length ? ` captures ${ply.captures.join(", ")}` : "";
  const seen = [shortPly(ply), time].filter(Boolean).join(" ") + mark;
  return [seen, `move ${number}: ${ply.piece}${captures}`, SAID[mark]].filter(Boolean).join(", ");
}

/**
 * Return what is said of a position to which somebody has stepped.
 *
 * @param {import("./position.js").Ply | null} ply the one that led there, if any
 * @param {number} number
 */
export function positionLabel(ply, number) {
  return ply ? `${plyLabel(ply, number)}.` : "The position at the beginning.";
}

export class MoveList {
  /**
   * @param {HTMLElement} host
   * @param {(ply: number) => void} step is told which ply is to be shown
   */
  constructor(host, step) {
    this.host = host;
    this.step = step;
    /** @type {Map<number, string>} */
    this.marks = new Map();
    this.shown = "";
    host.addEventListener("keydown", (event) => this.typed(event));
    revealWhenResized(host);
  }

  /**
   * Show the plies, and at which of them we are.
   *
   * @param {Played[]} plies
   * @param {number} at
   */
  show(plies, at) {
    const first = plies[0]?.ply ?? 1;
    const shown = [first, ...plies.map((each) => each.record), at, ...this.marks.values()].join();
    if (shown === this.shown) return;
    this.shown = shown;
    const turns = [];
    for (let each = 0; each < plies.length; each += 2) {
      turns.push(
        h(
          "li",
          { "data-turn": `${Math.ceil(plies[each].ply / 2)}.` },
          ...plies.slice(each, each + 2).map((ply) => this.item(ply, at)),
        ),
      );
    }
    fill(this.host, ...turns);
    const tabStop = this.host.querySelector("[aria-current]") ?? this.host.querySelector(".ply");
    tabStop?.setAttribute("tabindex", "0");
    revealCurrent(this.host);
  }

  /**
   * Go from ply to ply: the list is one stop of the Tab key.
   *
   * @param {KeyboardEvent} event
   */
  typed(event) {
    const plies = [...this.host.querySelectorAll("[data-ply]")].map(plyOf);
    const leads = KEYS[event.key];
    if (!leads || event.ctrlKey || event.altKey || event.metaKey || !plies.length) return;
    event.preventDefault();
    event.stopPropagation(); // outside of the list, the arrows step through the plies, too
    const [first, last] = [plies[0], plies[plies.length - 1]];
    const wanted = leads(plyOf(/** @type {Element} */ (event.target)));
    const ply = Math.max(first, Math.min(wanted, last));
    this.step(ply);
    const button = this.host.querySelector(`[data-ply="${ply}"]`);
    if (button instanceof HTMLElement) button.focus();
  }

  /** Whether the focus is on one of the plies. */
  hasFocus() {
    return this.host.contains(document.activeElement);
  }

  /**
   * @param {Played} ply
   * @param {number} at
   */
  item(ply, at) {
    const mark = this.marks.get(ply.ply) ?? "";
    const time = ply.spent == null ? "" : clockText(ply.spent);
    return h(
      `button.ply.${ply.piece}`,
      {
        type: "button",
        "data-key": `ply-${ply.ply}`,
        "data-ply": ply.ply,
        tabindex: -1,
        "aria-current": ply.ply === at && "step",
        "aria-label": plyLabel(ply, ply.ply, { time, mark }),
        click: () => this.step(ply.ply),
      },
      shortPly(ply),
      mark && h("b", {}, mark),
      time && " ", // else the time would be one word with the squares
      time && h("small", {}, time),
    );
  }
}

/** @param {Element} element of a ply */
function plyOf(element) {
  return Number(element.getAttribute("data-ply"));
}

const STEPS = /** @type {[string, string][]} */ ([
  ["First move", "M7 6v12M18 6l-8 6 8 6z"],
  ["Previous move", "M16 6l-8 6 8 6z"],
  ["Next move", "M8 6l8 6-8 6z"],
  ["Last move", "M17 6v12M6 6l8 6-8 6z"],
]);
const FLIP = "M8 20V5m0 0L4.5 9M8 5l3.5 4M16 4v15m0 0l-3.5-4M16 19l3.5-4";

/**
 * Return the buttons that go to the first ply, back, on, and to the last; and that flip the board.
 *
 * @param {number} at the ply that is shown
 * @param {number} first
 * @param {number} last
 * @param {{step: (ply: number) => void, flip: () => void}} view
 */
export function tools(at, first, last, view) {
  const plies = [first, at - 1, at + 1, last];
  return [
    ...STEPS.map(([label, path], each) =>
      tool(label, path, () => view.step(plies[each]), each < 2 ? at <= first : at >= last),
    ),
    tool("Flip the board", FLIP, () => view.flip()),
  ];
}

/**
 * Return a button with a picture on it. One that does nothing now keeps the focus.
 *
 * @param {string} label
 * @param {string} path
 * @param {() => void} click
 * @param {boolean} [disabled]
 */
function tool(label, path, click, disabled = false) {
  return h(
    "button.icon",
    {
      type: "button",
      "data-key": label,
      "aria-label": label,
      title: label,
      "aria-disabled": disabled && "true",
      tabindex: disabled ? -1 : 0,
      click,
    },
    svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path })),
  );
}

/** @param {HTMLElement} list whose current item is to stay in view */
export function revealWhenResized(list) {
  // Once the browser has scrolled to where it was before.
  new ResizeObserver(() => requestAnimationFrame(() => revealCurrent(list))).observe(list);
}

/**
 * Scroll a list, downwards or sideways, so that its current item is seen, and nothing else.
 *
 * @param {HTMLElement} list
 */
export function revealCurrent(list) {
  const item = list.querySelector("[aria-current]");
  if (!(item instanceof HTMLElement)) return;
  const top = item.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - (list.clientHeight - item.offsetHeight) / 2;
  }
  if (list.scrollWidth <= list.clientWidth) return;
  const left = item.getBoundingClientRect().left - list.getBoundingClientRect().left;
  if (left < 0 || left + item.offsetWidth > list.clientWidth)
    list.scrollLeft += left - (list.clientWidth - item.offsetWidth) / 2;
}

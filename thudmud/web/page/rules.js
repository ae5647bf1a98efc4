/**
 * The rules in three pictures: parts of a board, each with a sentence. They are on the first screen,
 * and in a dialog that also says how a battle ends.
 */

import { BoardView, NO_MARKS } from "./board.js";
import { open } from "./dialogs.js";
import { h, rulesTitle } from "./dom.js";

const PART = "0 5 6 4"; // A6 to F9
const IN_PART = /^[A-F][6-9]$/;

/**
 * @typedef {object} Rule
 * @property {string} words
 * @property {[string, import("./position.js").Piece][]} pieces
 * @property {Partial<import("./board.js").Marks>} marks
 */

/** @type {Rule[]} */
const RULES = [
  {
    words: "A dwarf moves as far as it likes, straight or diagonally.",
    pieces: [["B8", "dwarf"]],
    marks: {
      selected: "B8",
      targets: new Map(
        ["A7", "A8", "A9", "B6", "B7", "B9", "C7", "C8", "C9", "D6", "D8", "E8", "F8"].map(
          (square) => [square, "go"],
        ),
      ),
    },
  },
  {
    words: "A troll moves one square, and captures dwarfs next to it.",
    pieces: [
      ["B8", "troll"],
      ["D7", "dwarf"],
      ["D9", "dwarf"],
      ["F7", "dwarf"],
    ],
    marks: { selected: "B8", landing: "C8", preys: new Set(["D7", "D9"]), chosen: ["D7", "D9"] },
  },
  {
    words: "A line of three dwarfs hurls one up to three squares, to capture a troll.",
    pieces: [
      ["A8", "dwarf"],
      ["B8", "dwarf"],
      ["C8", "dwarf"],
      ["F8", "troll"],
    ],
    marks: { selected: "C8", targets: new Map([["F8", "take"]]) },
  },
];

const HUNT =
  "Dwarfs and trolls hunt each other. At the end each surviving troll scores 4 points, each dwarf 1.";
const HURL = "A line of dwarfs hurls its first one onto a troll.";

/** What each side wants, and how it captures, by the rules. */
export const AIMS = /** @type {Record<string, string[]>} */ ({
  discworld: [HUNT, `${HURL} A troll takes all dwarfs next to where it goes.`],
  classic: [HUNT, `${HURL} A troll takes a dwarf next to where it goes.`],
  "koom valley": [
    "The dwarfs want the Rock home on F1 to J1. The trolls want three trolls next to the Rock.",
    "Dwarfs trap a troll between two of them. Trolls trample dwarfs next to them.",
  ],
});

/**
 * Open the rules of a battle, and how it ends.
 *
 * @param {string} rules
 */
export function openRules(rules) {
  const isKoom = rules === "koom valley";
  const goal = isKoom ? "the Rock is home or surrounded" : "one side is wiped out";
  open(
    h("h2", { id: "dialog-title" }, `${rulesTitle(rules)} rules`),
    h("div.rules", {}, ...(isKoom ? [] : RULES.map(picture))),
    ...(AIMS[rules] ?? AIMS.discworld).map((each) => h("p", {}, each)),
    h("h3", {}, "How a battle ends"),
    h(
      "p",
      {},
      `A battle ends when ${goal}, when a side can’t move, resigns or runs out of time, or when both agree.`,
    ),
    h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
  );
}

/**
 * Draw the pictures, once.
 *
 * @param {HTMLElement} host
 */
export function showRules(host) {
  if (!host.firstChild) host.append(...RULES.map(picture));
}

/** @param {Rule} rule */
function picture({ words, pieces, marks }) {
  const host = h("div", { "aria-hidden": "true", inert: true });
  const nothing = () => false;
  const view = new BoardView(host, { pick: nothing, lift: nothing, drop: nothing, key: nothing });
  view.element.setAttribute("viewBox", PART);
  view.show(new Map(pieces), null, "");
  view.mark({ ...NO_MARKS, ...marks });
  for (const [square, cell] of view.cells) {
    if (IN_PART.test(square)) cell.removeAttribute("data-square"); // there is nothing to do on it
    else cell.remove();
  }
  return h("figure", {}, host, h("figcaption", {}, words));
}

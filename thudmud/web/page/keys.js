/**
 * The list of keys, which "?" opens.
 */

import { open } from "./dialogs.js";
import { h } from "./dom.js";

/** Keys that work wherever the focus is, except in fields and lists. */
const PAGE_KEYS = [
  ["←, →", "previous move, next move"],
  ["Home, End", "first position, last move"],
  ["p", "play or pause a replay"],
  ["Esc", "return to the current position; from the line of text, to the board"],
  ["/", "to the line of text: a chat, where a command begins with “/”, or a command in the log"],
];

/** Keys that work on the board. */
const BOARD_KEYS = [
  ["arrows", "go from square to square"],
  ["Enter", "pick up a piece, put it down, choose what it captures"],
  ["Esc", "put it back, cancel a premove, or return to the current position"],
  ["t, d, r", "where the trolls, the dwarfs, the Rock stand"],
  ["s, c", "along this row, this column"],
  ["a", "what is around this square"],
  ["m", "what this piece can do"],
  ["x", "what can be captured"],
  ["l", "the last move"],
  ["h, u", "ask for a hint, undo the last move"],
  ["f", "flip the board"],
];

/**
 * Return a list of keys, and what they do.
 *
 * @param {string[][]} keys
 */
function keyList(keys) {
  const items = keys.flatMap(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]);
  return h("dl.keys", {}, ...items);
}

/** Show all keys. */
export function openKeys() {
  open(
    h("h2", { id: "dialog-title" }, "Keyboard shortcuts"),
    h("h3", {}, "Everywhere"),
    keyList(PAGE_KEYS),
    h("h3", {}, "On the board"),
    keyList(BOARD_KEYS),
    h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
  );
}

/**
 * The list of keys, which "?" opens.
 */

import { BOARD_KEYS, keyList, open } from "./dialogs.js";
import { h } from "./dom.js";

/** Keys that work wherever the focus is, except in fields and lists. */
const MOVE_KEYS = [
  ["←, →", "previous move, next move"],
  ["Home, End", "first position, last move"],
  ["p", "play or pause a replay"],
  ["Esc", "return to the current position"],
];

export function openKeys() {
  open(
    h("h2", { id: "dialog-title" }, "Keyboard shortcuts"),
    h("h3", {}, "Moves"),
    keyList(MOVE_KEYS),
    h("h3", {}, "On the board"),
    keyList(BOARD_KEYS),
    h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
  );
}

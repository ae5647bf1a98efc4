/**
 * What there is to choose before a move can be played: which pieces it captures.
 */

import { CLICK, fill, h } from "./dom.js";

/**
 * @param {HTMLElement} host
 * @param {import("./mover.js").Mover} mover
 */
export function showChoice(host, mover) {
  const { landing, chosen, isSent } = mover;
  if (!landing || isSent) {
    fill(host);
    return;
  }
  const isAll = chosen.length === mover.preys().size;
  const prey = mover.side === "dwarf" ? "troll" : "dwarf";
  const words = isAll
    ? `Capturing ${chosen.length === 1 ? "one" : `all ${chosen.length}`}. ${CLICK} a ${prey} to spare it.`
    : `${CLICK} the ${prey}s to capture.`;
  const what = chosen.length ? `Capture ${chosen.join(", ")}` : "Capture nothing";
  const button = (/** @type {string} */ name, /** @type {any} */ rest, /** @type {string} */ label) =>
    h(name, { type: "button", ...rest }, label);
  const fits = Boolean(mover.fitting());
  const confirm = { "data-key": "confirm", disabled: !fits, click: () => mover.confirm() };
  fill(
    host,
    h("p", {}, words, fits && ` ${CLICK} ${landing} again to confirm.`),
    button("button.primary", confirm, fits ? what : "Choose"),
    button("button", { "data-key": "cancel", click: () => mover.cancel() }, "Cancel"),
  );
}

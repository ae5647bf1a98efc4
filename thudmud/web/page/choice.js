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
  const [number, one] = chosen.length === 1 ? ["1", "it"] : [`all ${chosen.length}`, "one"];
  const fits = Boolean(mover.fitting());
  const words = isAll
    ? `This captures ${number} ${prey}${one === "it" ? "" : "s"}. ${CLICK} ${one} to leave it`
    : `${CLICK} the ${prey}s to capture`;
  const again = isAll ? `, or ${landing} again to move` : `. ${CLICK} ${landing} again to move`;
  const what = chosen.length ? `Capture ${chosen.join(", ")}` : "Capture nothing";
  const button = (/** @type {string} */ name, /** @type {any} */ rest, /** @type {string} */ label) =>
    h(name, { type: "button", ...rest }, label);
  const confirm = { "data-key": "confirm", disabled: !fits, click: () => mover.confirm() };
  fill(
    host,
    h("p", {}, `${words}${fits ? again : ""}.`),
    button("button.primary", confirm, fits ? what : "Choose"),
    button("button", { "data-key": "cancel", click: () => mover.cancel() }, "Cancel"),
  );
}

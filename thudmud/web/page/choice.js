/**
 * What there is to choose before a move can be played: which pieces it captures.
 */

import { warn } from "./announce.js";
import { CLICK, HAS_KEYS, fill, h } from "./dom.js";
import { change, settings } from "./settings.js";

/**
 * @param {HTMLElement} host
 * @param {import("./mover.js").Mover} mover
 * @param {boolean} [isTimed] whether a clock runs, so that capturing all from now on is offered first
 */
export function showChoice(host, mover, isTimed = false) {
  const { landing, chosen, isSent } = mover;
  if (!landing || isSent) {
    fill(host);
    return;
  }
  const isAll = chosen.length === mover.preys().size;
  const prey = mover.side === "dwarf" ? "troll" : "dwarf";
  const isOne = chosen.length === 1;
  const fits = Boolean(mover.fitting());
  const enter = HAS_KEYS ? " or press Enter on it" : "";
  const again = `${CLICK} ${landing} again${enter} to`;
  const all = isOne ? "capture" : chosen.length === 2 ? `capture both ${prey}s` : `capture all ${chosen.length} ${prey}s`;
  const words = isAll
    ? `${again} ${all}. To leave ${isOne ? `the ${prey}` : "one"}, ${CLICK.toLowerCase()} it${enter}.`
    : `${CLICK} the ${prey}s to capture.${fits ? ` ${again} move.` : ""}`;
  const what = chosen.length ? `Capture ${chosen.join(", ")}` : "Capture nothing";
  const mayAlways =
    isAll && fits && prey === "dwarf" && !settings.capturesAll && mover.ways(landing).every((each) => !each.trample);
  const always = () => {
    change({ capturesAll: true });
    warn("From now on, your trolls capture all they can. Settings change that.");
    mover.confirm();
  };
  const button = (/** @type {string} */ name, /** @type {any} */ rest, /** @type {string} */ label) =>
    h(name, { type: "button", ...rest }, label);
  const confirm = { "data-key": "confirm", disabled: !fits, click: () => mover.confirm() };
  const captureAll =
    mayAlways && button("button", { "data-key": "always", title: "From now on, capture all", click: always }, "Always all");
  fill(
    host,
    h("p", {}, words),
    isTimed && captureAll,
    button("button.primary", confirm, fits ? what : "Choose"),
    button("button", { "data-key": "cancel", click: () => mover.cancel() }, "Cancel"),
    !isTimed && captureAll,
  );
}

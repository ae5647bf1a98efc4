/**
 * The moves of a game in one line, as on a phone: the current one is scrolled into view sideways.
 */

import { byId } from "./dom.js";

/** Keep the current move in view as moves are added and stepped through. */
export function followMoves() {
  const list = byId("moves");
  const reveal = () => revealSideways(list);
  new MutationObserver(reveal).observe(list, { childList: true, subtree: true });
  new ResizeObserver(reveal).observe(list);
}

/**
 * Scroll a list sideways so that its current item is seen, and nothing else.
 *
 * @param {HTMLElement} list
 */
function revealSideways(list) {
  const current = list.querySelector("[aria-current]");
  if (!(current instanceof HTMLElement) || list.scrollWidth <= list.clientWidth) return;
  const left = current.getBoundingClientRect().left - list.getBoundingClientRect().left;
  if (left >= 0 && left + current.offsetWidth <= list.clientWidth) return;
  list.scrollLeft += left - (list.clientWidth - current.offsetWidth) / 2;
}

/**
 * Toasts, which are shown for a while wherever on the page somebody is, and what is announced to those
 * who hear it.
 */

import { byId, curly, keepClear, shorten } from "./dom.js";

const SHOWN = 5000; // milliseconds at least
const READ = 50; // milliseconds for a character
const PAUSE = 50; // milliseconds between what is told to screen readers and what was before

/** @type {number | undefined} */
let saying;

/**
 * Tell those who hear the page.
 *
 * @param {string} sentence
 */
export function say(sentence) {
  const host = byId("status");
  host.textContent = ""; // else the same sentence would not be heard again
  clearTimeout(saying);
  saying = setTimeout(() => (host.textContent = sentence), PAUSE);
}

/** Take back what was told last: it doesn't hold any more. */
export function unsay() {
  if (byId("status").textContent) say("");
}

/** @type {number | undefined} */
let toasting;

/**
 * Show something for a while. It is not read out.
 *
 * @param {string} sentence
 * @param {...(Node | string)} more for those who click
 */
export function toast(sentence, ...more) {
  const host = byId("toast");
  host.textContent = curly(sentence);
  host.classList.add("shown");
  shorten(host);
  host.append(...more);
  keepClear(host);
  clearTimeout(toasting);
  toasting = setTimeout(() => untoast(""), Math.max(SHOWN, sentence.length * READ));
}

/** Keep the toast until it is taken away. */
export function keepToast() {
  clearTimeout(toasting);
}

/**
 * Take away what is shown for a while, if it isn't true any more.
 *
 * @param {string} start how it begins
 */
export function untoast(start) {
  if (byId("toast").textContent.startsWith(start)) byId("toast").classList.remove("shown");
}

/**
 * Show something for a while, and tell it to those who hear the page.
 *
 * @param {string} sentence "" for nothing at all
 */
export function warn(sentence) {
  if (!sentence) return;
  toast(sentence);
  say(sentence);
}

/** Move the toast away from what it covers, which may have moved. */
export function placeToast() {
  if (byId("toast").matches(".shown")) keepClear(byId("toast"));
}

byId("toast").addEventListener("click", () => untoast(""));
for (const each of ["resize", "scrollend"]) addEventListener(each, placeToast);

/**
 * What can be taken elsewhere of a battle: pictures, and the frame that other pages show it in.
 */

import { open } from "./dialogs.js";
import { h } from "./dom.js";
import { isDark, settings } from "./settings.js";

/**
 * @typedef {object} Tell
 * @property {(sentence: string) => void} say tells those who hear the page
 * @property {(sentence: string) => void} toast shows something for a while
 */

/**
 * Offer pictures of a battle, or of what stands on a board.
 *
 * @param {string} path of it, as in its address
 * @param {string} title
 * @param {number | null} ply null for how it stands
 * @param {boolean} isFlipped
 */
export function openPictures(path, title, ply, isFlipped) {
  const look = new URLSearchParams({ colours: settings.scheme });
  if (isDark()) look.set("theme", "dark");
  if (isFlipped) look.set("side", "north");
  const moving = `${path}.gif?${look}`;
  if (ply !== null) look.set("ply", String(ply));
  const still = (/** @type {string} */ kind) => `${path}.${kind}?${look}`;
  const link = (/** @type {string} */ href, /** @type {string} */ label) =>
    h("a.button", { href, download: "" }, label);
  const hasPixels = document.documentElement.hasAttribute("data-pixels");
  open(
    h("h2", { id: "dialog-title" }, ply === null ? title : `${title}, move ${ply}`),
    h("img.picture", { src: still("svg"), alt: "The board as shown" }),
    h(
      "div.row",
      {},
      link(still("svg"), "SVG"),
      hasPixels && link(still("png"), "PNG"),
      hasPixels && link(moving, "The whole battle as a GIF"),
    ),
    h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
  );
}

/**
 * Show what others put into a page of theirs to have a battle there.
 *
 * @param {string} address the link to it, with the ply that is shown
 * @param {Tell} outside
 */
export async function openSnippet(address, { say, toast }) {
  const tell = (/** @type {string} */ sentence) => {
    toast(sentence);
    say(sentence);
  };
  const answer = await fetch(`/oembed?url=${encodeURIComponent(address)}`).catch(() => null);
  if (!answer?.ok) {
    tell("This server doesn’t allow embedding.");
    return;
  }
  const { html } = await answer.json();
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { readonly: true, rows: 5, "aria-label": "HTML" }, html)
  );
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(html); // which only secure pages have
      tell("Copied.");
    } catch {
      tell("Press Ctrl+C to copy it.");
    }
  };
  open(
    h("h2", { id: "dialog-title" }, "Embed"),
    h("p.hint", {}, "Paste this HTML where the board should appear. Readers can step through the moves."),
    field,
    h(
      "form.row",
      { method: "dialog" },
      h("button", { type: "button", click: copy }, "Copy"),
      h("button.primary", { value: "" }, "Close"),
    ),
  );
}

/**
 * What can be taken elsewhere of a battle: pictures, and the frame that other pages show it in.
 */

import { warn } from "./announce.js";
import { open } from "./dialogs.js";
import { h } from "./dom.js";
import { isDark, settings } from "./settings.js";

/** A button that opens the ways to take a battle elsewhere. */
export class ShareMenu {
  /**
   * @param {HTMLElement} host
   * @param {() => HTMLElement[]} items returns buttons and links for what is in view now
   */
  constructor(host, items) {
    this.host = host;
    this.items = items;
    this.list = h("div.menu", { id: `${host.id}-menu`, hidden: true });
    this.button = h(
      "button",
      {
        type: "button",
        "aria-expanded": "false",
        "aria-controls": this.list.id,
        click: () => (this.list.hidden ? this.open() : this.close()),
      },
      "Share",
    );
    host.append(this.button, this.list);
    // Before the entry opens a dialog, which gives the focus back to where it was.
    this.list.addEventListener("click", () => this.close(), true);
    // Before a result beside it, which the same key would close.
    addEventListener("keydown", (event) => host.contains(/** @type {Node} */ (event.target)) && this.typed(event), true);
    host.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !host.contains(relatedTarget)) this.close();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!host.contains(/** @type {Node} */ (target))) this.close();
    });
    addEventListener("resize", () => this.place());
    document.addEventListener("scroll", () => this.place(), { capture: true, passive: true });
  }

  /**
   * Call the button something: "More", if there are other entries, too.
   *
   * @param {string} label
   */
  name(label) {
    if (this.button.textContent !== label) this.button.textContent = label;
  }

  open() {
    this.list.replaceChildren(...this.items());
    this.setOpen(true);
    this.place();
  }

  /** Put the list next to the button: nothing that scrolls cuts it off. */
  place() {
    if (this.list.hidden) return;
    const { top, bottom, left, right } = this.button.getBoundingClientRect();
    const { offsetHeight, offsetWidth, style } = this.list;
    const most = Math.max(0, innerHeight - offsetHeight);
    const isAbove = bottom > most;
    // Above it, it would reach far up, over a result or the board.
    const isBeside = isAbove && top - offsetHeight < innerHeight / 2 && left >= offsetWidth;
    const y = isBeside ? top : isAbove ? top - offsetHeight : bottom;
    style.top = `${Math.min(most, Math.max(0, y))}px`;
    style.left = `${Math.max(0, (isBeside ? left : right) - offsetWidth)}px`;
  }

  /** Close it; the focus goes back to the button if it was inside. */
  close() {
    if (this.list.hidden) return;
    const hadFocus = this.list.contains(document.activeElement);
    this.setOpen(false);
    if (hadFocus) this.button.focus();
  }

  /** @param {boolean} isOpen */
  setOpen(isOpen) {
    this.list.hidden = !isOpen;
    this.button.setAttribute("aria-expanded", String(isOpen));
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    const entries = [this.button, .../** @type {HTMLElement[]} */ ([...this.list.children])];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !this.list.hidden) this.close();
    else if (step && !this.list.hidden) {
      const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      entries[Math.max(0, Math.min(at + step, entries.length - 1))].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation(); // outside, these keys step through the moves
  }
}

/**
 * Return the entries of the menu for a battle, or for what stands on a board.
 *
 * @param {object} shared
 * @param {() => void} shared.copyLink
 * @param {(() => void) | null} shared.openPictures null if there is no picture of it
 * @param {() => void} shared.openSnippet
 * @param {{href: string, download: string} | null} shared.record null if there is nothing yet
 */
export function shareItems({ copyLink, openPictures, openSnippet, record }) {
  const button = (/** @type {string} */ label, /** @type {() => void} */ click) =>
    h("button", { type: "button", click }, label);
  return [
    button("Copy the link", copyLink),
    ...(openPictures ? [button("Picture", openPictures)] : []),
    button("Embed", openSnippet),
    ...(record ? [h("a.button", record, "Download")] : []),
  ];
}

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
    h("h2", { id: "dialog-title" }, "Picture"),
    h("p", {}, ply === null ? title : `${title}, ${ply ? `move ${ply}` : "start"}`),
    h("img.picture", { src: still("svg"), alt: "The board as shown" }),
    h(
      "div.row",
      {},
      link(still("svg"), "SVG"),
      hasPixels && link(still("png"), "PNG"),
      hasPixels && link(moving, "The whole battle as a GIF"),
    ),
    h("form.row", { method: "dialog" }, h("button", { value: "" }, "Close")),
  );
}

/**
 * Show what others put into a page of theirs to have a battle there.
 *
 * @param {string} address the link to it, with the ply that is shown
 */
export async function openSnippet(address) {
  const answer = await fetch(`/oembed?url=${encodeURIComponent(address)}`).catch(() => null);
  if (!answer?.ok) {
    warn("This server doesn’t allow embedding.");
    return;
  }
  const { html } = await answer.json();
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { readonly: true, rows: 6, "aria-label": "HTML" }, html)
  );
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(html); // which only secure pages have
      warn("Copied.");
    } catch {
      warn("Press Ctrl+C to copy it.");
    }
  };
  open(
    h("h2", { id: "dialog-title" }, "Embed"),
    h("p.hint", {}, "Paste this HTML where the board should appear. Readers can step through the moves."),
    field,
    h(
      "form.row",
      { method: "dialog" },
      h("button.primary", { type: "button", click: copy }, "Copy"),
      h("button", { value: "" }, "Close"),
    ),
  );
}

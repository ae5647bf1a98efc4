/**
 * The card beside or below the board that tells how a battle has ended.
 */

import { fill, h, measure, svg } from "./dom.js";

const CROSS = "M6 6l12 12M18 6L6 18";

export class ResultCard {
  /**
   * @param {Element} stage of the board
   * @param {() => void} closed is called when the player has closed it
   */
  constructor(stage, closed) {
    this.host = h("section.result", { "aria-labelledby": "result-title", hidden: true });
    stage.append(this.host);
    measure(this.host, "--result");
    this.closed = closed;
    /** The battle whose card is open. @type {number | null} */
    this.battle = null;
    this.isNew = false;
    this.content = h("div.result-content");
    const close = h(
      "button.icon",
      { type: "button", "aria-label": "Close", title: "Close (Esc)", click: () => this.close() },
      svg(
        "svg",
        { viewBox: "0 0 24 24", "aria-hidden": "true" },
        svg("path", { class: "line", d: CROSS }),
      ),
    );
    fill(this.host, this.content, close);
    this.content.addEventListener("click", (event) => {
      // Whoever accepts another battle leaves the card to that: it has the focus from there.
      const pressed = /** @type {Element} */ (event.target).closest("a, button");
      if (pressed && !pressed.matches("[data-accepts]")) this.close();
    });
    // Before anybody else: the Esc that closes the card does nothing more.
    document.addEventListener("keydown", (event) => this.typed(event), true);
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    const isElsewhere = /** @type {Element} */ (event.target).closest("dialog");
    if (event.key !== "Escape" || isElsewhere || !this.host.checkVisibility()) return;
    event.preventDefault();
    event.stopPropagation();
    this.close();
  }

  /**
   * Have the card of a battle opened by what is shown next, and the page scrolled to it.
   *
   * @param {number | null} battle
   */
  open(battle) {
    this.battle = battle;
    this.isNew = battle !== null;
  }

  /** Whether the focus is in the card. */
  hasFocus() {
    return this.host.contains(document.activeElement);
  }

  /** Close it. */
  close() {
    if (this.battle === null) return;
    this.battle = null;
    this.closed();
  }

  /**
   * Show what the card says, or nothing.
   *
   * @param {{title: string, lines: string[], buttons: HTMLElement[]} | null} result
   */
  show(result) {
    this.host.hidden = !result;
    if (!result) return;
    fill(
      this.content,
      h("h2", { id: "result-title", tabindex: -1 }, result.title),
      ...result.lines.map((line) => h("p", {}, line)),
      h("div.actions", {}, ...result.buttons),
    );
  }

  /**
   * Put the focus on a card that has just been opened, and show the board with it, unless the
   * player is typing; or on an open card if the focus was lost.
   *
   * @param {boolean} isLost whether the focus is on nothing that has stayed
   * @returns {boolean} whether it is on the card now
   */
  takeFocus(isLost) {
    const { activeElement } = document;
    const isFree = activeElement === document.body || this.hasFocus();
    const isOnBoard = activeElement?.matches("[role=gridcell]") === true;
    const isMoved = !this.host.hidden && (isLost || (this.isNew && (isFree || isOnBoard)));
    if (this.isNew && !activeElement?.matches("input, textarea"))
      scrollTo(0, 0);
    if (isMoved) this.content.querySelector("h2")?.focus({ preventScroll: true });
    this.isNew = false;
    return isMoved;
  }
}

/**
 * What the server says, and the line that is typed.
 */

import { h } from "./dom.js";

const MOST = 400; // pieces of text that are kept
const REMEMBERED = 100; // lines that were typed
const [NARROW, WIDE] = [20, 80]; // columns
const USUAL = 398; // pixels of the log before it has been seen
const BESIDE = 4; // characters that would fit beside the text
const PROBE = 50; // characters that are measured
const CLOSE = 40; // pixels from the end that still are the end
const ESCAPES = /\x1b\[[0-9;]*m/g; // colours, where somebody has turned them on
const PROMPT = /(^|\n)> ?$/; // for a command

/**
 * Return a text as it is shown: without colours, and without the prompt, which is a line of its own.
 *
 * @param {string} text
 */
export function plain(text) {
  const lines = text.replace(ESCAPES, "").replaceAll("\r\n", "\n");
  return lines.replace(PROMPT, "").replace(/^\n+|\s+$/g, "");
}

/**
 * Whether a text ends in the prompt for a command.
 *
 * @param {string} text
 */
export function endsInPrompt(text) {
  return PROMPT.test(text);
}

export class Log {
  /**
   * @param {HTMLElement} host where text is shown
   * @param {HTMLFormElement} form of the command line
   * @param {HTMLInputElement} input the command line
   * @param {(line: string) => boolean} send sends what was typed; whether it could
   */
  constructor(host, form, input, send) {
    this.host = host;
    this.input = input;
    this.isHidden = false;
    this.isCollapsed = false;
    /** @type {string[]} */
    this.typed = [];
    this.at = 0;
    this.isAtEnd = true;
    this.top = 0; // where the log was scrolled to last, by the player or by us
    host.addEventListener("scroll", () => {
      const isUp = host.scrollTop < this.top; // else it may be the end that has moved on
      this.top = host.scrollTop;
      const rest = host.scrollHeight - this.top - host.clientHeight;
      this.isAtEnd = rest < CLOSE || (this.isAtEnd && !isUp);
    });
    new ResizeObserver(() => this.isAtEnd && this.end()).observe(host);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.enter(send);
    });
    input.addEventListener("keydown", (event) => this.recall(event));
  }

  /**
   * Show what the server says.
   *
   * @param {string} text
   * @param {boolean} [isRead] whether it is read out
   */
  say(text, isRead = true) {
    const lines = plain(text);
    if (!lines) return;
    const entry = h("div", { "aria-live": !isRead && "off" });
    for (const line of lines.split(/\n(?!more: )/)) {
      // Voices are told by "more:" that somebody's own words go on. Here all of them are one line.
      const words = line.split("\nmore: ");
      const said = words.join(" ");
      entry.append(entry.hasChildNodes() ? "\n" : "", words[1] ? h("span.own", {}, said) : said);
    }
    this.add(entry);
  }

  /**
   * Show what was typed, or was done by clicking. It is not read out: who did it knows.
   *
   * @param {string} line
   */
  echo(line) {
    if (!this.isHidden) this.add(h("div.typed", { "aria-live": "off" }, line));
  }

  /** @param {HTMLElement} entry */
  add(entry) {
    const { host, isAtEnd } = this;
    host.append(entry);
    while (host.childElementCount > MOST) host.firstElementChild?.remove();
    if (isAtEnd) this.end();
  }

  /** Forget all that was said and typed. */
  clear() {
    this.host.replaceChildren();
    this.typed = [];
    this.at = 0;
    this.input.value = "";
  }

  /** Return how many characters there is room for in a line. */
  columns() {
    const probe = h("div.probe", {}, "0".repeat(PROBE));
    document.body.append(probe);
    const width = this.host.clientWidth || Math.min(document.body.clientWidth, USUAL);
    const columns = Math.floor((width / probe.offsetWidth) * PROBE) - BESIDE;
    probe.remove();
    return Math.max(NARROW, Math.min(columns, WIDE));
  }

  /**
   * Close the log for those who see it, or open it again; screen readers go on reading it.
   *
   * @param {boolean} isCollapsed
   */
  collapse(isCollapsed) {
    this.isCollapsed = isCollapsed;
    this.host.parentElement?.classList.toggle("collapsed", isCollapsed);
    this.host.tabIndex = isCollapsed ? -1 : 0;
    this.end();
  }

  /** Whether what comes next would be seen. */
  isSeen() {
    return !this.isCollapsed && this.host.getBoundingClientRect().bottom <= innerHeight;
  }

  /** Scroll to the end, or to where the last text begins if it is longer than what is seen. */
  end() {
    const { host } = this;
    const last = host.lastElementChild;
    this.isAtEnd = true;
    if (last instanceof HTMLElement) host.scrollTop = last.offsetTop - host.offsetTop;
    this.top = host.scrollTop;
  }

  /**
   * Ask for a line that nobody is to see, or for one that may be seen.
   *
   * @param {boolean} isHidden
   */
  hide(isHidden) {
    this.isHidden = isHidden;
    this.input.type = isHidden ? "password" : "text";
  }

  /** @param {(line: string) => boolean} send */
  enter(send) {
    const line = this.input.value;
    this.end();
    if (!send(line)) return; // it stays in the field, to be sent later
    this.input.value = "";
    if (line && !this.isHidden && line !== this.typed.at(-1)) {
      this.typed = [...this.typed, line].slice(-REMEMBERED);
    }
    this.at = this.typed.length;
  }

  /** @param {KeyboardEvent} event */
  recall(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || this.isHidden) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(this.typed.length, this.at + step));
    this.input.value = this.typed[this.at] ?? "";
  }
}

/**
 * What people say to each other, apart from all else that happens.
 */

import { byId, h } from "./dom.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./log.js").Log} Log */

const SAYS = /** @type {Record<string, string>} */ ({
  kibitz: "kibitzes",
  shout: "shouts",
  whisper: "whispers",
});

const HEARERS = /** @type {Record<string, string>} */ ({
  say: "to all here",
  whisper: "to watchers",
  kibitz: "to players, too",
});

/** What the line is for, by what the server asks for. */
const ASKED = /** @type {Record<string, string>} */ ({
  password: "Your password",
  old_password: "Your password",
  new_password: "New password",
  again: "New password again",
});

const KEPT = 50; // lines that are compared with what the server sends after a reconnection

/**
 * Return what tells two lines apart.
 *
 * @param {{room: string | null, player: string, kind: string, text: string, to: string | null}} said
 */
function keyOf({ room, player, kind, text, to }) {
  return JSON.stringify([room, player, kind, text, to]);
}

export class Chat {
  /**
   * @param {State} state
   * @param {Log} log shares the line that is typed
   */
  constructor(state, log) {
    this.state = state;
    this.log = log;
    this.isOpen = false;
    /** @type {string | null} */
    this.board = null;
    /** @type {HTMLSelectElement} */
    this.how = byId("how");
    this.tabs = { log: byId("tab-log"), chat: byId("tab-chat") };
    this.panels = { log: byId("log"), chat: byId("chat") };
    this.tabs.log.addEventListener("click", () => this.open(false));
    this.tabs.chat.addEventListener("click", () => this.open(true));
    for (const tab of Object.values(this.tabs)) {
      tab.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
        this.open(!this.isOpen);
        this.tabs[this.isOpen ? "chat" : "log"].focus();
      });
    }
    /** The last lines, as they came. @type {string[]} */
    this.lines = [];
    state.on("Thud.Say", ({ at, ...said }) => this.hear(said));
    state.on("Thud.Said", ({ lines }) => this.restore(lines));
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.isOpen = isOpen;
    const shown = isOpen ? "chat" : "log";
    for (const name of /** @type {const} */ (["log", "chat"])) {
      this.tabs[name].setAttribute("aria-selected", String(name === shown));
      this.tabs[name].tabIndex = name === shown ? 0 : -1;
      this.panels[name].hidden = name !== shown;
    }
    this.panels[shown].scrollTop = this.panels[shown].scrollHeight;
    this.show(this.board);
    if (isOpen) this.tabs.chat.classList.remove("new");
  }

  /**
   * Say what the line is for, and who can hear it.
   *
   * @param {string | null} board that is shown
   */
  show(board) {
    this.board = board;
    const isNamed = this.state.me.player !== null;
    const ways = this.ways();
    const { how } = this;
    how.hidden = !isNamed || !this.isOpen || ways.length === 1;
    if ([...how.options].map((each) => each.value).join() !== ways.join()) {
      const chosen = how.value;
      how.replaceChildren(...ways.map((each) => h("option", { value: each }, HEARERS[each])));
      how.value = ways.includes(chosen) ? chosen : ways[0];
    }
    const words = !isNamed
      ? "Enter a name to join"
      : this.state.prompt.asks !== "command"
        ? (ASKED[this.state.prompt.asks] ?? "Your answer")
        : this.isOpen
          ? "Say something"
          : "Type a command, or “help”";
    byId("line-label").textContent = words;
    byId("line").placeholder = words;
  }

  /**
   * Return the verbs to speak by: while others play, those who play do not hear what is only said.
   *
   * @returns {string[]}
   */
  ways() {
    const { board, state } = this;
    const table = board === null ? undefined : state.tables.get(board);
    const isHere = board === state.me.room;
    if (!table || state.exercise || (isHere && state.sides(table).length)) return ["say"];
    return isHere && table.running ? ["whisper", "kibitz"] : ["say", "whisper", "kibitz"];
  }

  /**
   * Return the command that says something.
   *
   * @param {string} text
   */
  command(text) {
    const verb = this.how.hidden ? "say" : this.how.value;
    return verb === "say" ? `say ${text}` : `${verb} ${text} on ${this.board}`;
  }

  /**
   * Show what was said before, without what is shown already.
   *
   * @param {any[]} said the last lines
   */
  restore(said) {
    const keys = said.map((each) => keyOf(each));
    let known = Math.min(keys.length, this.lines.length);
    while (known && this.lines.slice(-known).join() !== keys.slice(0, known).join()) known--;
    for (const each of said.slice(known)) this.hear(each);
  }

  /** @param {{room: string | null, player: string, kind: string, text: string, to: string | null}} said */
  hear(said) {
    this.lines = [...this.lines, keyOf(said)].slice(-KEPT);
    this.add(said);
  }

  /** @param {{room: string | null, player: string, kind: string, text: string, to: string | null}} said */
  add({ room, player, kind, text, to }) {
    const me = this.state.me.player;
    const who = player === me ? "You" : player;
    const whom = to && h("small", {}, ` to ${to === me ? "you" : to}`);
    const where = [
      player === me ? kind in SAYS && kind : SAYS[kind],
      me !== null && room && room !== this.state.me.room && `at the ${room}`,
    ]
      .filter(Boolean)
      .join(" ");
    const entry =
      kind === "emote"
        ? h("p.emote", {}, `${player} ${text}`)
        : h("p", {}, h("b", {}, who), whom, where && h("small", {}, ` ${where}`), ` ${text}`);
    const { chat } = this.panels;
    chat.append(entry);
    chat.scrollTop = chat.scrollHeight;
    if (!this.isOpen && player !== me) this.tabs.chat.classList.add("new");
  }
}

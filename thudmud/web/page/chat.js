/**
 * What people say to each other, apart from all else that happens, which is in the log beside it.
 *
 * Beside a board the log is closed until somebody wants it. It is never hidden from screen readers,
 * to which it tells what happens, and what is said as well.
 */

import { toast } from "./announce.js";
import { byId, h } from "./dom.js";
import { change, read, settings, write } from "./settings.js";

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

/** @typedef {"log" | "chat"} Talk */
const TALKS = /** @type {const} */ (["log", "chat"]);

const READ = 0.7; // of a line, or of the room for lines, has to be seen
const UNREAD = "thud.unread";
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
    /** What has not been on the screen yet, with what tells it apart. @type {Map<HTMLElement, string>} */
    this.unread = new Map();
    /** What was unread when the page was loaded again. @type {string[]} */
    this.kept = read(UNREAD, "sessionStorage") ?? [];
    this.reading = new IntersectionObserver(
      (seen) => {
        for (const { target, boundingClientRect, intersectionRect } of seen)
          if (intersectionRect.height > READ * Math.min(boundingClientRect.height, this.chat.clientHeight))
            this.read(/** @type {HTMLElement} */ (target));
      },
      { threshold: Array.from({ length: 20 }, (_, each) => each / 20) },
    );
    this.isOpen = false;
    /** @type {string | null} */
    this.board = null;
    /** @type {HTMLSelectElement} */
    this.how = byId("how");
    this.chat = byId("chat");
    new ResizeObserver(() => (this.chat.scrollTop = this.chat.scrollHeight)).observe(this.chat);
    this.tabs = { log: byId("tab-log"), chat: byId("tab-chat") };
    this.panels = { log: byId("panel-log"), chat: byId("panel-chat") };
    /** What the player wants to see; null until they have shown it. @type {Talk | null} */
    this.wanted = settings.talk;
    for (const name of TALKS) {
      const tab = this.tabs[name];
      const other = name === "log" ? "chat" : "log";
      tab.addEventListener("click", () => this.choose(name));
      tab.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
        this.choose(other);
        this.tabs[other].focus();
      });
    }
    /** The last lines, as they came. @type {string[]} */
    this.lines = [];
    state.on("Thud.Say", ({ at, ...said }) => this.hear(said));
    state.on("Thud.Said", ({ lines }) => this.restore(lines));
  }

  /**
   * Show the log or the chat, from now on.
   *
   * @param {Talk} name
   */
  choose(name) {
    change({ talk: name });
    this.want(name);
  }

  /**
   * Show the log or the chat, as long as the page is open.
   *
   * @param {Talk} name
   */
  want(name) {
    this.wanted = name;
    this.open(name === "chat");
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.isOpen = isOpen;
    const shown = isOpen ? "chat" : "log";
    for (const name of TALKS) {
      this.tabs[name].setAttribute("aria-selected", String(name === shown));
      this.tabs[name].tabIndex = name === shown ? 0 : -1;
    }
    this.panels.chat.hidden = !isOpen;
    this.log.collapse(isOpen);
    const { chat } = this;
    chat.scrollTop = chat.scrollHeight;
    this.nameLine();
  }

  /** Whether the chat is to be shown: without being asked, beside a board, where all is seen. */
  isWanted() {
    const isBesideBoard = ["game", "replay"].includes(String(document.body.dataset.view));
    return (this.wanted ?? (isBesideBoard && !this.state.exercise ? "chat" : "log")) === "chat";
  }

  /**
   * Show the chat or the log beside what is shown, but change nothing under who is typing.
   *
   * @param {string | null} board that is shown
   */
  show(board) {
    this.board = board;
    for (const entry of this.chat.children) entry.hidden = this.isElsewhere(entry.dataset.room);
    this.markUnread();
    const { input } = this.log;
    const isTyping = document.activeElement === input || input.value !== "";
    if (this.isWanted() === this.isOpen || isTyping) this.nameLine();
    else this.open(!this.isOpen);
  }

  /** Say what the line is for, and who can hear it. */
  nameLine() {
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
          ? "Say something, or /help"
          : "Type a command, or “help”";
    byId("line-label").textContent = words;
    byId("line").placeholder = how.hidden ? words : "Say something"; // there is less room
  }

  /**
   * Return the verbs to speak by: in a battle that is rated or has a clock, its players do not hear
   * what others only say.
   *
   * @returns {string[]}
   */
  ways() {
    const { board, state } = this;
    const table = board === null ? undefined : state.tables.get(board);
    const isHere = board === state.me.room;
    if (!table || state.exercise || (isHere && state.sides(table).length)) return ["say"];
    const isSerious = table.running && (table.rated || table.time !== null);
    return isHere && isSerious ? ["whisper", "kibitz"] : ["say", "whisper", "kibitz"];
  }

  /**
   * Return the command that says something; a slash is for a command, whose answer is in the log.
   *
   * @param {string} text
   */
  command(text) {
    if (text.startsWith("/")) {
      this.want("log");
      return text.slice(1);
    }
    const verb = this.how.hidden ? "say" : this.how.value;
    return verb === "say" ? `say ${text}` : `${verb} ${text} on ${this.board}`;
  }

  /** Forget all that was said. */
  clear() {
    this.chat.replaceChildren();
    this.lines = [];
    this.reading.disconnect();
    this.unread.clear();
    this.kept = [];
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
    for (const each of said.slice(known)) this.hear(each, true);
  }

  /**
   * @param {{room: string | null, player: string, kind: string, text: string, to: string | null}} said
   * @param {boolean} [isOld] whether it may have been read before
   */
  hear(said, isOld = false) {
    const key = keyOf(said);
    this.lines = [...this.lines, key].slice(-KEPT);
    const entry = this.add(said);
    const isHesitating = said.kind === "emote" && this.state.isBot(said.player);
    const isRead = isOld && !this.kept.includes(key);
    if (isRead || isHesitating || said.player === this.state.me.player || isOnScreen(entry)) return;
    this.unread.set(entry, key);
    this.reading.observe(entry);
    this.markUnread();
    if (isOld) return;
    const { room, player, kind, text } = said;
    const where = entry.hidden && room ? ` (${room})` : "";
    const isCounted = byId("to-chat").checkVisibility(); // on a phone, where it would hide buttons
    if (!isCounted && !this.log.isSeen()) toast(`${player}${where}${kind === "emote" ? "" : ":"} ${text}`);
  }

  /**
   * Whether what is said in a room is of another than the one in view.
   *
   * @param {string | undefined} room nothing if it is for the player wherever they are
   */
  isElsewhere(room) {
    const { exercise, me } = this.state;
    return room !== undefined && room !== ((!exercise && this.board) || (me.room ?? ""));
  }

  /** @param {HTMLElement} entry has come into view */
  read(entry) {
    this.reading.unobserve(entry);
    this.unread.delete(entry);
    this.markUnread();
  }

  /** Show on whatever leads to the chat how many lines are new, and keep it for when the page is loaded again. */
  markUnread() {
    const size = [...this.unread.keys()].filter((each) => !each.hidden).length;
    write(UNREAD, this.unread.size ? [...this.unread.values()] : null, "sessionStorage");
    for (const [each, name] of [[this.tabs.chat, "Chat"], [byId("to-chat"), "To the chat"]]) {
      each.dataset.unread = size || "";
      each.setAttribute("aria-label", size ? `${name}, ${size} new` : name);
    }
  }

  /** @param {{room: string | null, player: string, kind: string, text: string, to: string | null}} said */
  add({ room, player, kind, text, to }) {
    const me = this.state.me.player;
    const who = player === me ? "You" : player;
    const whom = to && h("small", {}, ` to ${to === me ? "you" : to}`);
    const how = player === me ? kind in SAYS && kind : SAYS[kind];
    const entry =
      kind === "emote"
        ? h("p.emote", {}, `${player} ${text}`)
        : h("p", {}, h("b", {}, who), whom, how && h("small", {}, ` ${how}`), ` ${text}`);
    return this.append(entry, ["tell", "shout"].includes(kind) ? undefined : (room ?? ""));
  }

  /**
   * Add what has happened between the players of a board, to be read again.
   *
   * @param {string} sentence
   * @param {string} [board] nothing if it is for the player wherever they are
   */
  note(sentence, board) {
    this.append(h("p.emote", {}, sentence), board);
  }

  /**
   * @param {HTMLElement} entry
   * @param {string} [room]
   */
  append(entry, room) {
    if (room !== undefined) entry.dataset.room = room;
    entry.hidden = this.isElsewhere(room);
    const { chat } = this;
    chat.append(entry);
    chat.scrollTop = chat.scrollHeight;
    return entry;
  }
}

/** @param {HTMLElement} entry */
function isOnScreen(entry) {
  const { top, bottom } = entry.getBoundingClientRect();
  const room = byId("chat").getBoundingClientRect();
  return entry.checkVisibility() && top >= Math.max(0, room.top) && bottom <= innerHeight;
}

/**
 * Challenges, invitations and messages to the player, on top of whatever is shown, with their answers.
 */

import { open } from "./dialogs.js";
import { byId, counted, fill, h, measure, rulesTitle } from "./dom.js";
import { agreeing } from "./game.js";
import { play } from "./sound.js";
import { isByDays } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Seek} Seek */

/**
 * @typedef {object} Challenge
 * @property {string} title in few words
 * @property {string} words
 * @property {[label: string, line: string]} accept the button's label, and the command that it types
 * @property {[label: string, line: string]} decline
 * @property {boolean} [hasToWait] whether a clock of the player's runs, so that it can't be accepted now
 */

/** @typedef {{board: string, other: string | null, at: string, by: string | null}} Waiting */

export class Challenges {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   */
  constructor(state, { send }) {
    this.state = state;
    this.send = send;
    /** The battle that waits since another has begun; null if none does. @type {Waiting | null} */
    this.waiting = null;
    /** What is said of messages that the player hasn't seen; nothing if there are none. */
    this.messages = "";
    /** Whether the player has pressed the button to see them. */
    this.isReading = false;
    state.on("Thud.Message", ({ player, to }) => {
      if (to === state.me.player) this.messages = `${player} has left you a message.`;
    });
    state.on("Thud.Messages", (known) => this.tellMessages(known));
    measure(byId("challenges"), "--challenges");
    const announce = (/** @type {{to: string | null}} */ { to }) => {
      if (to && to === state.me.player) play("call");
    };
    state.on("Thud.Seek", announce);
    state.on("Thud.Invite", announce);
  }

  /**
   * Return those that the player has not answered.
   *
   * @returns {Challenge[]}
   */
  open() {
    const { invites, me, seeks } = this.state;
    const isToMe = (/** @type {{to: string | null}} */ { to }) => to !== null && to === me.player;
    const hasLiveClock = this.hasLiveClock();
    const challenges = [...seeks.values()].filter(isToMe).map((each) => ofSeek(each, hasLiveClock));
    return [...challenges, ...invites.filter(isToMe).map(ofInvite)];
  }

  /** Forget what there is for a player who has left. */
  clear() {
    this.messages = "";
    this.waiting = null;
  }

  /** Whether a clock runs in a battle of the player's, other than by days. */
  hasLiveClock() {
    return [...this.state.tables.values()].some(
      (table) => table.clock?.falls && !isByDays(table.time) && this.state.sides(table).length,
    );
  }

  /** What the oldest of them is called in a title; nothing if there is none. */
  get title() {
    return this.open()[0]?.title ?? "";
  }

  /**
   * Show those that have not been answered.
   *
   * @returns {boolean} whether the focus was on an answer that has gone
   */
  show() {
    const host = byId("challenges");
    const hadFocus = host.contains(document.activeElement);
    const notices = this.open().map(({ words, accept, decline, hasToWait }) =>
      h(
        "div.notice",
        { "data-key": words },
        h("p", {}, words, hasToWait && " You can accept after this battle."),
        !hasToWait && this.button(...accept, ".primary"),
        this.button(...decline),
      ),
    );
    if (this.messages) notices.push(this.messageNotice());
    if (this.isWaiting()) notices.unshift(this.waitingNotice());
    fill(host, ...notices);
    return hadFocus && !host.contains(document.activeElement);
  }

  /** @param {any} known a `Thud.Messages` */
  tellMessages({ page, new: unseen, messages }) {
    this.messages = page === null && unseen ? `You have ${counted(unseen, "new message")}.` : "";
    if (page === null || !this.isReading) return;
    this.isReading = false;
    const entries = messages.map((/** @type {any} */ { player, text, at }) =>
      h("p", {}, h("b", {}, player ?? "Somebody"), ` ${text} `, h("small", {}, new Date(at * 1000).toLocaleString())),
    );
    const close = h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close"));
    open(h("h2", { id: "dialog-title" }, "Messages"), ...entries, close);
  }

  /** Return the notice of messages, with the way to see them. */
  messageNotice() {
    const close = (/** @type {boolean} */ isReading) => () => {
      this.messages = "";
      this.isReading = isReading;
      if (isReading) this.send("messages");
      this.state.changed();
    };
    return h(
      "div.notice",
      { "data-key": "messages" },
      h("p", {}, this.messages),
      h("button.primary", { type: "button", "data-key": "read", click: close(true) }, "Read"),
      h("button", { type: "button", "data-key": "later", click: close(false) }, "Later"),
    );
  }

  /** Whether the battle that was left still waits, and no move was played in the other. */
  isWaiting() {
    const { waiting, state } = this;
    if (!waiting) return false;
    const isNew = state.place === waiting.at && state.tables.get(waiting.at)?.running && !state.boards.get(waiting.at)?.ply;
    if (!isNew || !state.tables.get(waiting.board)?.running) this.waiting = null;
    return this.waiting !== null;
  }

  /** Return the notice that another battle has begun, with the way back to the one that waits. */
  waitingNotice() {
    const { board } = /** @type {Waiting} */ (this.waiting);
    const close = () => {
      this.waiting = null;
      this.state.changed();
    };
    return h(
      "div.notice",
      {},
      h("p", {}, this.waitingWords),
      h("button.primary", { type: "button", "data-key": "waiting", click: close }, "OK"),
      this.button("Back to it", `go to ${board}`),
    );
  }

  /** What is said of the battle that waits. */
  get waitingWords() {
    const { by, other } = /** @type {Waiting} */ (this.waiting);
    return `${by ?? "Somebody"} has come to play you. Your game with ${other ?? "the other"} waits.`;
  }

  /**
   * @param {string} label
   * @param {string} line
   * @param {string} [style]
   */
  button(label, line, style = "") {
    const click = () => this.send(line);
    return h(
      `button${style}`,
      { type: "button", "data-key": `challenge ${line}`, click },
      label,
    );
  }
}

/**
 * @param {Seek} seek
 * @param {boolean} hasLiveClock
 * @returns {Challenge}
 */
function ofSeek({ seek, player, rules, side, time, answers, rated }, hasLiveClock) {
  const facts = [rulesTitle(rules), time, side && `${player} as ${side}s`, rated ? "rated" : "casual"];
  const isNow = answers !== null; // they are asked whether to stop playing elsewhere
  const title = isNow ? `${player} wants to play you` : `${player} challenges you`;
  const does = isNow ? "wants to play you now" : "challenges you to a match";
  return {
    title,
    words: `${player} ${does} (${facts.filter(Boolean).join(", ")}).`,
    accept: [isNow ? "Play now" : "Accept", `accept ${seek}`],
    decline: [isNow ? "Not now" : "Decline", `no ${seek}`],
    hasToWait: hasLiveClock && !isByDays(time),
  };
}

/**
 * @param {any} invite
 * @returns {Challenge}
 */
function ofInvite(invite) {
  const { label, line, words } = agreeing(invite);
  return {
    title: `${invite.player} invites you`,
    words: `${invite.player} asks you to ${words}.`,
    accept: [label, line],
    decline: ["Decline", `no ${invite.player}`],
  };
}

/**
 * The form in the hall: the terms of a match, and who is to be played.
 */

import { byId, fill, h, rulesTitle } from "./dom.js";

/** @typedef {import("./state.js").State} State */

/**
 * @typedef {{bot: string, level: number | null}} Bot
 * @typedef {{level: number, name: string, plays: string}} Level
 */

const SIDES = /** @type {Record<string, string>} */ ({ dwarf: "first as dwarfs", troll: "first as trolls" });
const IDLE = "Press Play to find an opponent. While you wait, you can play a bot without a clock.";

/** Where the terms are always shown: there is room for them. */
const WIDE = matchMedia("(min-width: 40.01rem) and (min-height: 34.01rem)");

export class PlayForm {
  /** The bots that are here. @type {Bot[]} */
  bots = [];

  /** At which levels they can play. @type {Level[]} */
  levels = [];

  /** The word of the last challenge that was made by a link. */
  word = "";

  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   */
  constructor(state, { send }) {
    this.state = state;
    this.send = send;
    this.form = /** @type {HTMLFormElement} */ (byId("play"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const bot = this.bot;
      this.look(bot ? `match ${bot.bot}` : "play");
    });
    this.form.addEventListener("change", () => this.show());
    byId("opponent").addEventListener("change", () => {
      byId("level").value = String(this.bot?.level ?? "");
      this.show();
    });
    byId("seek").addEventListener("click", () => (this.own.length ? this.stop() : this.look("seek")));
    const fold = () => (byId("terms").open = WIDE.matches);
    WIDE.addEventListener("change", fold);
    fold();
    state.on("Thud.Bots", ({ bots, levels }) => this.offer(bots, levels));
    this.show();
  }

  /** The bot that is chosen, if one is. */
  get bot() {
    return this.bots.find((each) => each.bot === byId("opponent").value);
  }

  /**
   * Offer the bots as opponents, and keep the chosen one.
   *
   * @param {Bot[]} bots
   * @param {Level[]} levels
   */
  offer(bots, levels) {
    [this.bots, this.levels] = [bots, levels];
    const { value } = byId("opponent");
    const level = byId("level").value;
    fill(
      byId("opponent"),
      h("option", { value: "" }, "Anyone"),
      ...bots.map(({ bot, level: usual }) => {
        const strength = usual ? `level ${usual}` : "a program of its own";
        return h("option", { value: bot }, `${bot}, a bot (${strength})`);
      }),
    );
    fill(
      byId("level"),
      ...levels.map(({ level: number, name }) => h("option", { value: number }, `${number} ${name}`)),
    );
    byId("opponent").value = bots.some((each) => each.bot === value) ? value : "";
    byId("level").value = level || String(this.bot?.level ?? "");
    this.show();
  }

  /** Show what belongs to the choices. */
  show() {
    const { bot } = this;
    const isByDays = byId("unit").value === "days";
    const isCustom = new FormData(this.form).get("time") === "custom";
    byId("custom").hidden = !isCustom;
    for (const [name, isDays] of /** @type {const} */ ([
      ["minutes", false],
      ["seconds", false],
      ["days", true],
    ])) {
      byId(name).parentElement.hidden = isDays !== isByDays;
      byId(name).disabled = !isCustom || isDays !== isByDays; // else it could stop the form
    }
    byId("opponents").hidden = !this.bots.length;
    byId("levels").hidden = !bot?.level;
    const level = this.levels.find((each) => String(each.level) === byId("level").value);
    byId("plays").textContent = bot?.level && level ? level.plays : "";
    byId("play-now").textContent = bot ? `Play ${bot.bot}` : "Play";
    byId("friend").hidden = bot !== undefined;
    byId("ratings").hidden = !this.state.me.member;
    byId("unrated").hidden = this.state.me.member;
    byId("terms-summary").textContent = this.summary();
    this.showWaiting();
  }

  /** The seeks of the player. */
  get own() {
    return [...this.state.seeks.values()].filter(({ player }) => player === this.state.me.player);
  }

  /** Show whether the player waits for an opponent. */
  showWaiting() {
    const [own] = this.own;
    const isWaiting = own !== undefined;
    const text = isWaiting ? waitingWords(own) : IDLE;
    if (byId("play-hint").textContent !== text) byId("play-hint").textContent = text;
    byId("play-hint").hidden = !isWaiting && this.bot !== undefined;
    byId("seek").hidden = !isWaiting && this.bot !== undefined;
    byId("seek").textContent = isWaiting ? "Stop waiting" : "Wait for a person";
    byId("seek").classList.toggle("waits", isWaiting);
  }

  /** Withdraw what the player waits with. */
  stop() {
    for (const { seek } of this.own) this.send(`withdraw ${seek}`);
  }

  /** Return the terms that are chosen, in a line. */
  summary() {
    const form = new FormData(this.form);
    const time = this.time(form);
    return [
      rulesTitle(String(form.get("rules"))),
      SIDES[String(form.get("side"))] ?? "first as either",
      time || "no clock",
      form.get("rated") || (this.state.me.member ? "rated" : "casual"),
    ].join(", ");
  }

  /**
   * Send a command with the terms that are chosen.
   *
   * @param {string} asked `play`, `seek`, or `match` and a name
   * @param {string} [word] by which alone the seek can be accepted
   */
  look(asked, word = "") {
    if (!this.form.checkValidity()) byId("terms").open = true; // else nothing says what is wrong
    if (!this.form.reportValidity()) return;
    this.word = word;
    const form = new FormData(this.form);
    const side = form.get("side");
    const { bot } = this;
    const isBot = bot?.level && asked === `match ${bot.bot}`;
    const words = [
      asked,
      form.get("rules"),
      this.time(form),
      side && `as ${side}`,
      this.state.me.member && form.get("rated"), // those of guests never are
      isBot && `level ${byId("level").value}`,
      word && `by word ${word}`,
    ];
    this.send(words.filter(Boolean).join(" "));
  }

  /**
   * Return the time control as it is typed.
   *
   * @param {FormData} form
   */
  time(form) {
    const time = form.get("time");
    if (time !== "custom") return time;
    const days = Number(form.get("days"));
    return days ? `${days} ${days === 1 ? "day" : "days"}` : `${form.get("minutes")}+${form.get("seconds")}`;
  }
}

/**
 * Return whom a player is waiting for.
 *
 * @param {import("./state.js").Seek} seek
 */
function waitingWords({ to, word, answers }) {
  if (answers !== null) return `Asked ${to}. Meanwhile, play a bot.`;
  if (to) return `Waiting for ${to} to answer …`;
  return word ? "Waiting for your friend to open the link …" : "Waiting for an opponent …";
}

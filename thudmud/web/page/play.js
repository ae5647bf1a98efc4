/**
 * The form in the hall, and the dialog of a challenge: the terms of a match, and who is to be played.
 */

import { open, sending } from "./dialogs.js";
import { byId, counted, fill, h, rulesTitle } from "./dom.js";
import { change, settings } from "./settings.js";
import { isByDays } from "./state.js";

/** @typedef {import("./state.js").State} State */

/**
 * @typedef {{bot: string, level: number | null}} Bot
 * @typedef {{level: number, name: string, plays: string}} Level
 */

const SIDES = /** @type {Record<string, string>} */ ({ dwarf: "first as dwarfs", troll: "first as trolls" });
const IDLE = "Press Play to find an opponent. While you wait, you can play a bot without a clock.";

/** Where the terms are always shown: there is room for them. */
const WIDE = matchMedia("(min-width: 40.01rem) and (min-height: 34.01rem)");

/**
 * Return copies of the fields for terms, for another form.
 *
 * @param {...string} names of those that are wanted; all without any
 */
export function copyTerms(...names) {
  return [...byId("terms").children]
    .slice(1)
    .filter((each) => !names.length || names.some((name) => each.querySelector(`[name=${name}]`)))
    .map((each) => /** @type {HTMLElement} */ (each.cloneNode(true)));
}

/** The terms of a match, as a form has them. */
export class Terms {
  /**
   * @param {HTMLFormElement} form
   * @param {State} state
   * @param {Record<string, any>} values what is chosen at first
   * @param {boolean} [isGuest] whether the opponent is a guest, who isn't rated
   */
  constructor(form, state, values, isGuest = false) {
    this.form = form;
    this.isGuest = isGuest;
    this.state = state;
    form.addEventListener("change", () => this.show());
    this.choose(values);
  }

  /** @param {Record<string, any>} values of the fields, by their names */
  choose(values) {
    for (const [name, value] of Object.entries(values)) {
      const field = this.form.elements.namedItem(name);
      if (field) /** @type {any} */ (field).value = value;
    }
    this.show();
  }

  /** What is chosen. @returns {Record<string, any>} */
  get values() {
    return Object.fromEntries(new FormData(this.form));
  }

  /** Show what belongs to the choices. */
  show() {
    const { form } = this;
    const { elements } = form;
    const isRated = this.state.me.member && !this.isGuest;
    const { unit, time } = this.values;
    const [hasDays, isCustom] = [unit === "days", time === "custom"];
    const part = (/** @type {string} */ name) => /** @type {any} */ (form.querySelector(name));
    part(".custom").hidden = !isCustom;
    for (const name of ["minutes", "seconds", "days"]) {
      const field = /** @type {HTMLInputElement} */ (elements.namedItem(name));
      const isOther = (name === "days") !== hasDays;
      /** @type {HTMLElement} */ (field.parentElement).hidden = isOther;
      field.disabled = !isCustom || isOther; // else it could stop the form
    }
    part(".ratings").hidden = !isRated;
    part(".unrated")?.toggleAttribute("hidden", isRated); // a tournament's form has none
  }

  /** Return the terms in a line. */
  get summary() {
    const { rules, side, rated } = this.values;
    return [
      rulesTitle(rules),
      SIDES[side] ?? "either side first",
      this.time || "no clock",
      rated || (this.state.me.member ? "rated" : "casual"),
    ].join(", ");
  }

  /** Return the terms as they are typed, and remember them. */
  get words() {
    const { rules, side, rated } = this.values;
    change({ terms: { ...settings.terms, ...this.values } });
    // Matches of guests are never rated.
    return [rules, this.time, side && `as ${side}`, this.state.me.member && rated];
  }

  /** The time control as it is typed. */
  get time() {
    const { time, days, minutes, seconds } = this.values;
    if (time !== "custom") return time;
    return days ? counted(Number(days), "day") : `${minutes}+${seconds}`;
  }
}

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
    this.terms = new Terms(this.form, state, settings.terms);
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
    fill(byId("level"), ...levelOptions(levels));
    byId("opponent").value = bots.some((each) => each.bot === value) ? value : "";
    byId("level").value = level || String(this.bot?.level ?? "");
    this.show();
  }

  /** Show what belongs to the choices. */
  show() {
    const { bot } = this;
    this.terms.show();
    byId("opponents").hidden = !this.bots.length;
    byId("levels").hidden = !bot?.level;
    const level = this.levels.find((each) => String(each.level) === byId("level").value);
    byId("plays").textContent = bot?.level && level ? level.plays : "";
    byId("play-now").textContent = bot ? `Play ${bot.bot}` : "Play";
    byId("terms-summary").textContent = this.terms.summary;
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
    byId("seek").textContent = isWaiting ? "Stop waiting" : "Wait for a person";
    byId("seek").classList.toggle("waits", isWaiting);
  }

  /**
   * Stop looking for anybody on the clock, as nothing shows it where the player goes.
   *
   * @returns {boolean} whether they were looking
   */
  leave() {
    const live = this.own.filter(({ to, time }) => !to && !isByDays(time));
    for (const { seek } of live) {
      this.state.seeks.delete(seek);
      this.send(`withdraw ${seek}`);
    }
    return live.length > 0;
  }

  /** Withdraw what the player waits with. */
  stop() {
    for (const { seek } of this.own) this.send(`withdraw ${seek}`);
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
    const { bot } = this;
    const isBot = bot?.level && asked === `match ${bot.bot}`;
    const level = isBot && `level ${byId("level").value}`;
    this.send([asked, ...this.terms.words, level, word && `by word ${word}`].filter(Boolean).join(" "));
  }

  /**
   * Ask for the terms of a challenge, and send it.
   *
   * @param {string} player
   */
  challenge(player) {
    const usual = this.bots.find(({ bot }) => bot === player)?.level;
    const levels = h("select", { name: "level" }, ...levelOptions(this.levels));
    const submit = () => {
      const level = usual && `level ${/** @type {any} */ (levels).value}`;
      this.send([`match ${player}`, ...terms.words, level].filter(Boolean).join(" "));
      this.terms.choose(settings.terms);
      this.show();
    };
    const form = h(
      "form.challenge",
      { method: "dialog", submit },
      ...copyTerms(),
      usual && h("div.terms", {}, h("label", {}, "Level ", levels)),
      sending("Send challenge"),
    );
    if (usual) /** @type {any} */ (levels).value = usual;
    const terms = new Terms(/** @type {HTMLFormElement} */ (form), this.state, {
      ...settings.terms,
      ...this.terms.values,
    }, this.state.someone(player)?.member === false && !usual);
    open(h("h2", { id: "dialog-title" }, `Challenge ${player}`), form);
    form.querySelector(":checked").focus();
  }
}

/** @param {Level[]} levels */
function levelOptions(levels) {
  return levels.map(({ level, name }) => h("option", { value: level }, `${level} ${name}`));
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

/**
 * The hall: who would like to play, the boards, who is here.
 */

import { share } from "./dialogs.js";
import { byId, capitalised, counted, fill, h, hasFeature, playerLink, rulesTitle, token } from "./dom.js";
import { agreeing } from "./game.js";
import { PlayForm } from "./play.js";
import { settings } from "./settings.js";
import { holder } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Table} Table */
/** @typedef {import("./state.js").Seek} Seek */

const BATTLES = 6;
const MOST_NAMED = 2; // boards of a player
const FREE = 2; // boards that are listed though nobody is there
const PLAYERS = 10;
const ASKED_AFTER = 300; // milliseconds after a battle's end until its result is asked for

/**
 * Whether both players of a battle are there: nobody watches one that was left.
 *
 * @param {Table} table
 */
function isPlayed({ seats }) {
  return seats.every(({ away_since }) => !away_since);
}

/**
 * Whether a match is over, and no other has begun.
 *
 * @param {Table} table
 */
function isDone({ over, running }) {
  return over && !running;
}

export class LobbyView {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   * @param {(line: string) => void} outside.ask asks what a command tells, as a fact alone
   */
  constructor(state, { send, ask }) {
    this.state = state;
    this.send = send;
    this.ask = (/** @type {string} */ line) => ask(line);
    /** The boards where a battle was going on. @type {Set<string>} */
    this.running = new Set();
    /** @type {number | undefined} */
    this.asking = undefined;
    state.on("Thud.Here", ({ room }) => {
      if (room === null && state.me.player)
        for (const line of ["who", "bots", "history all", "standings", "tournaments"]) ask(line);
    });
    state.on("Thud.Went", ({ room }) => room === null && state.me.player && ask("who"));
    state.on(
      "Thud.History",
      ({ player, battles }) =>
        player === null && // else it is for their page
        this.showHistory(battles.filter((/** @type {any} */ { score, plies }) => score || plies)),
    );
    for (const fact of ["Thud.Table", "Thud.Listed"]) state.on(fact, (table) => this.follow(table));
    state.on("Thud.Standings", ({ players, rules, time }) =>
      fill(
        byId("standings"),
        ...(players.length
          ? [
              h("p.hint", {}, `${rulesTitle(rules)}, ${time}`),
              h("ol.standings", {}, ...players.slice(0, PLAYERS).map(standing)),
            ]
          : [h("p.hint.none", {}, "No rated matches yet.")]),
      ),
    );
    this.form = new PlayForm(state, { send });
    this.share = (/** @type {Seek} */ seek) =>
      share(linkOf(seek), `Send this link to a friend: whoever opens it plays you. ${this.terms(seek)}.`, true);
    byId("friend").addEventListener("click", () => this.form.look("seek", newWord()));
    state.on("Thud.Seek", (seek) => seek.word && seek.word === this.form.word && this.share(seek));
    byId("learning").hidden = byId("teach").hidden = !hasFeature("exercises");
    byId("learn").addEventListener("click", () => send("tutorial"));
    byId("puzzle").addEventListener("click", () => send("puzzle"));
    byId("tv").hidden = !hasFeature("tv");
    byId("tv").addEventListener("click", () => send(state.tv.on ? "tv off" : "tv"));
  }

  /** @param {any[]} battles */
  showHistory(battles) {
    fill(
      byId("history"),
      battles.length
        ? h("ul.list", {}, ...battles.slice(0, BATTLES).map((each) => battleEntry(each)))
        : h("p.hint.none", {}, "None yet."),
    );
  }

  /**
   * Ask for the latest results when a battle has ended, once for all that end at a time.
   *
   * @param {{board: string, running: boolean}} table
   */
  follow({ board, running }) {
    if (running) this.running.add(board);
    else if (this.running.delete(board) && this.state.me.player && this.state.me.room === null) {
      clearTimeout(this.asking);
      this.asking = setTimeout(() => ["history all", "standings"].forEach(this.ask), ASKED_AFTER);
    }
  }

  show() {
    this.form.show();
    const isNew = !this.state.me.member && !settings.hasPlayed;
    byId("learn").classList.toggle("new", isNew);
    fill(byId("seeks"), ...this.seeks());
    const { on, board } = this.state.tv;
    byId("tv").setAttribute("aria-pressed", String(on));
    byId("tv-waits").textContent =
      on && !board ? "Nothing else is on. Your TV will show the next battle." : "";
    this.showBoards();
    fill(byId("who"), h("ul.people", {}, ...this.people().map((each) => this.person(each))));
  }

  /** List the boards: the player's own first, and folded up those whose players have all left. */
  showBoards() {
    const { state } = this;
    const here = new Set(this.people().map((each) => each.player));
    const isOwn = (/** @type {Table} */ table) => state.sides(table).length > 0 && !isDone(table);
    const isLeft = (/** @type {Table} */ table) => {
      const people = table.seats.map(({ player }) => player).filter((each) => each && !state.isBot(each));
      return people.length > 0 && !isOwn(table) && !people.some((each) => here.has(each));
    };
    const all = [...state.tables.values()].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
    const left = all.filter(isLeft);
    const free = all.filter(({ seats }) => seats.every(({ player }) => !player)).slice(FREE);
    fill(
      byId("boards"),
      this.list(all.filter((each) => !isLeft(each) && !free.includes(each))),
      this.folded("free", free, counted(free.length, "more free board")),
      this.folded("left", left, counted(left.length, "abandoned board")),
    );
  }

  /** @param {Table[]} tables */
  list(tables) {
    return h("ul.list", {}, ...tables.map((each) => this.board(each)));
  }

  /**
   * Return boards that are folded up, or nothing if there are none.
   *
   * @param {string} key
   * @param {Table[]} tables
   * @param {string} words what they are
   */
  folded(key, tables, words) {
    const open = byId("boards").querySelector(`[data-key=${key}]`)?.open === true;
    return tables.length > 0 && h("details", { open, "data-key": key }, h("summary", {}, words), this.list(tables));
  }

  /** Return those who are in the hall, and then those who are elsewhere; last the bots, by strength. */
  people() {
    const known = new Map(this.state.everybody.map((each) => [each.player, each]));
    const here = this.state.people.map((each) => ({ ...known.get(each.player), ...each }));
    const names = new Set(here.map((each) => each.player));
    const rank = (/** @type {any} */ { bot, player }) => (bot ? (this.state.levels.get(player) ?? 99) : 0);
    return [
      ...here,
      ...this.state.everybody.filter((each) => each.room && !names.has(each.player)),
    ].sort((a, b) => rank(a) - rank(b));
  }

  /**
   * Return the board that is most worth watching: where both players are, and a rated battle rather
   * than another; the one that is shown, if it still is.
   *
   * @param {string | null} shown
   * @returns {string | null}
   */
  best(shown) {
    const battles = [...this.state.tables.values()].filter(({ running, seats }) => {
      const [dwarf, troll] = seats.map((each) => each.player);
      return running && dwarf && troll && dwarf !== troll;
    });
    const worth = (/** @type {Table} */ { board, rated }) => (board === shown ? 2 : Number(rated));
    const [best] = battles.filter(isPlayed).sort((one, other) => worth(other) - worth(one));
    return best?.board ?? null;
  }

  /** Show those who have no name yet what they could watch. */
  showNow() {
    const running = [...this.state.tables.values()].filter(
      (each) => each.running && isPlayed(each),
    );
    fill(
      byId("now"),
      ...(running.length
        ? [
            h("h2", {}, "Being played now"),
            h(
              "ul",
              {},
              ...running.map((each) =>
                h(
                  "li",
                  {},
                  h("a", { href: `/board/${encodeURIComponent(each.board)}` }, this.seats(each)),
                  h("small", {}, ` ${rulesTitle(each.rules)}`),
                ),
              ),
            ),
          ]
        : []),
    );
  }

  seeks() {
    const { player } = this.state.me;
    const invites = this.state.invites.filter((each) => each.to === player);
    const seeks = [...this.state.seeks.values()].filter(
      (each) => !each.to || [each.to, each.player].includes(player ?? ""),
    );
    if (!seeks.length && !invites.length)
      return [h("p.hint.none", {}, "No one yet.")];
    return [
      h(
        "ul.list",
        {},
        ...invites.map((each) => this.invite(each)),
        ...seeks.map((each) => this.seek(each)),
      ),
    ];
  }

  /** @param {any} invite */
  invite(invite) {
    const { label, line, words } = agreeing(invite);
    return h(
      "li",
      { "data-key": `from ${invite.player}` },
      token(invite.side),
      h("span.what", {}, h("b", {}, invite.player), ` asks you to ${words}`),
      this.button(label, line, true),
      this.button("Decline", `no ${invite.player}`),
    );
  }

  /**
   * Return the terms of a match that is looked for, in a line.
   *
   * @param {Seek} seek
   */
  terms(seek) {
    const { player, rules, time, rated } = seek;
    const side = this.ownSide(seek);
    const as = player === this.state.me.player ? "as" : "you as";
    const kind = rated && this.state.me.member ? "rated" : "casual"; // for a guest who accepts, it is casual
    return [rulesTitle(rules), time || "no clock", side && `${as} ${side}s`, kind].filter(Boolean).join(" · ");
  }

  /**
   * Return the side that the player would have in a match that is looked for; null for either.
   *
   * @param {Seek} seek
   */
  ownSide({ player, side }) {
    if (side === null || player === this.state.me.player) return side;
    return side === "dwarf" ? "troll" : "dwarf";
  }

  /** @param {Seek} seek */
  seek(seek) {
    const isMine = seek.player === this.state.me.player;
    return h(
      "li",
      { "data-key": `seek-${seek.seek}` },
      token(this.ownSide(seek) ?? "stone"),
      h(
        "span.what",
        {},
        h("b", {}, isMine ? "You" : seek.player),
        seek.word && ", to whoever has your link",
        seek.to && (isMine ? `, to ${seek.to}` : ", to you"),
        h("small", {}, this.terms(seek)),
      ),
      seek.word &&
        h(
          "button",
          { type: "button", "data-key": `share ${seek.word}`, click: () => this.share(seek) },
          "Copy link",
        ),
      isMine
        ? this.button("Withdraw", `withdraw ${seek.seek}`)
        : this.button("Accept", `accept ${seek.seek}`, true, `Accept ${seek.player}'s match`),
      !isMine && seek.to && this.button("Decline", `no ${seek.seek}`, false, `Decline ${seek.player}'s match`),
    );
  }

  /** @param {Table} table */
  board(table) {
    const mine = this.state.sides(table).length > 0;
    const goesOn = mine && !isDone(table);
    const label = goesOn ? "Go on" : table.running ? "Watch" : "Open";
    const state = table.running
      ? "playing"
      : table.seats.some((each) => each.player)
        ? "waiting"
        : "free";
    return h(
      "li",
      { "data-key": table.board },
      h(`span.dot.${state}`, { "aria-hidden": "true" }),
      h(
        "span.what",
        {},
        h("b", {}, capitalised(table.board)),
        h(
          "small",
          {},
          [rulesTitle(table.rules), table.running && table.rated && "rated", this.seats(table)]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      table.running &&
        !mine &&
        !this.state.observed.includes(table.board) &&
        this.button("", `observe ${table.board}`, false, `Observe ${table.board}`),
      this.button(label, `go to ${table.board}`, goesOn, `${label} ${table.board}`),
    );
  }

  /** @param {Table} table */
  seats(table) {
    const [dwarf, troll] = table.seats.map((each) => each.player);
    if (!dwarf && !troll) return "both seats free";
    if (dwarf === troll) return `${dwarf} practises`;
    return table.seats.map(holder).join(" – ");
  }

  /** @param {any} person */
  person(person) {
    const isMe = person.player === this.state.me.player;
    const plays = (person.plays ?? []).filter((/** @type {string} */ each) => {
      const table = this.state.tables.get(each);
      return table && !isDone(table);
    });
    const more = plays.length - MOST_NAMED;
    const where = plays.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
    const { own } = this.form;
    const asked = own.find(({ to, word }) => to === person.player && !word);
    return h(
      "li",
      { "data-key": person.player },
      h(
        "span.what",
        {},
        h("b", {}, playerLink(person.player)),
        h("small", {}, role(person, isMe, this.state.levels.get(person.player))),
        person.room && !plays.includes(person.room) && h("small", {}, ` · ${person.room}`),
        plays.length > 0 && h("small", {}, ` · plays at ${where}`),
        person.idle > 1 && h("small", {}, ` · idle ${person.idle} min`),
      ),
      !isMe &&
        h(
          "button",
          {
            type: "button",
            "data-key": `match ${person.player}`,
            "aria-label": `${asked ? "Withdraw the challenge to" : "Challenge"} ${person.player}`,
            click: () =>
              asked
                ? this.send(`withdraw ${asked.seek}`)
                : this.form.challenge(person.player),
          },
          asked ? "Withdraw" : "Challenge",
        ),
    );
  }

  /**
   * @param {string} label an eye, if it is empty
   * @param {string} line
   * @param {boolean} [isFirst]
   * @param {string} [spoken] what the button is called where nothing is beside it
   */
  button(label, line, isFirst = false, spoken) {
    return h(
      `button${isFirst ? ".primary" : ""}`,
      {
        type: "button",
        "data-key": line,
        title: !label && "Observe: stay here, and see this board whenever you like",
        "aria-label": spoken,
        click: () => this.send(line),
      },
      label || h("span.eye"),
    );
  }
}

/** @param {Seek} seek */
function linkOf({ word }) {
  return `${location.origin}/challenge/${word}`;
}

/** Return a word that nobody can guess. */
function newWord() {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return [...bytes].map((each) => (each % 32).toString(32)).join("");
}

/**
 * Return who somebody is, in a word that stands behind their name; none for a member.
 *
 * @param {any} person
 * @param {boolean} isMe
 * @param {number} [level] of a bot
 */
function role({ bot, operator, member }, isMe, level) {
  if (isMe) return " you";
  if (bot) return level ? ` bot, level ${level}` : " bot";
  if (operator) return " operator";
  return member ? "" : " guest";
}

/**
 * @param {any} known
 * @param {string} [side] of the player whose list it is; else the winner's side is shown
 */
export function battleEntry(known, side = "") {
  const { battle: number, dwarf, troll, winner, score, rules, plies, state } = known;
  const isAlone = dwarf !== null && dwarf === troll;
  const players = isAlone
    ? `${dwarf}, both sides`
    : `${dwarf ?? "Somebody"} – ${troll ?? "somebody"}`;
  const result = score ? `${score.dwarf} – ${score.troll}` : state;
  const facts = [rulesTitle(rules), plies != null && counted(plies, "move"), result];
  return h(
    "li",
    { "data-key": `battle-${number}` },
    h(
      "span.what",
      {},
      h("a", { href: `/game/${number}` }, players),
      h("small", {}, facts.filter(Boolean).join(" · ")),
    ),
    side && score && !isAlone
      ? h("span.badge", {}, winner ? (winner === side ? "won" : "lost") : "drawn")
      : winner && token(winner),
  );
}

/** @param {any} known */
function standing({ place, player, rating, battles }) {
  return h(
    "li",
    { "data-key": player },
    h("span", {}, `${place}.`),
    h("b", {}, playerLink(player)),
    h("span", {}, String(rating)),
    h("small", {}, `${battles} matches`),
  );
}

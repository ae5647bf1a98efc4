/**
 * Tournaments: the list in the hall, and one with who stands where, its matches and their boards.
 */

import { open, sending } from "./dialogs.js";
import { byId, capitalised, clockText, counted, dotted, fill, h, hasFeature, playerLink, rulesTitle } from "./dom.js";
import { Terms, copyTerms } from "./play.js";
import { isByDays } from "./state.js";

/** @typedef {import("./state.js").State} State */

/**
 * @typedef {object} Tournament in short: `Thud.Tournament`
 * @property {number} tournament
 * @property {string | null} title
 * @property {string} kind
 * @property {string} rules
 * @property {string} time
 * @property {boolean | null} rated
 * @property {string | null} player
 * @property {number | null} starts
 * @property {number | null} ends
 * @property {string} state
 * @property {number | null} round
 * @property {number | null} rounds
 * @property {number} open
 * @property {number} entrants
 * @property {string | null} winner
 *
 * @typedef {object} Match
 * @property {number} round
 * @property {string} first
 * @property {string | null} second
 * @property {boolean} over
 * @property {string | null} board
 * @property {number[][]} scores
 * @property {(number | null)[]} battles
 * @property {number | null} next_at
 * @property {string[]} absent
 */

const BOARDS = 4; // that are drawn
const DRAWN_EVERY = 15000; // milliseconds
const ASKED_AFTER = 300; // milliseconds after the last change until it is asked for
const KINDS = ["swiss", "round robin", "knock-out", "arena"];
const LATEST = 5; // tournaments that are over, in the list

/** What decides between players level on points: its short name, its name, and what it is. */
const TIE_BREAKS = /** @type {Record<string, string[]>} */ ({
  swiss: ["Buch.", "Buchholz", "Buch.: the points of all opponents (Buchholz)."],
  "round robin": [
    "S-B",
    "Sonneborn-Berger",
    "S-B: the points of those beaten, and half of those drawn with (Sonneborn-Berger).",
  ],
});

export class TournamentView {
  /** The one that is shown. @type {number | null} */
  number = null;

  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a command
   * @param {(line: string) => void} outside.ask asks what a command tells, as a fact alone
   * @param {(why: string, then: () => void) => void} outside.register asks a guest to register, and
   *   goes on
   * @param {(number: number) => void} outside.show shows a tournament
   */
  constructor(state, { send, ask, register, show }) {
    this.state = state;
    this.send = send;
    this.ask = ask;
    this.register = register;
    this.page = show;
    /** The tournament that begins next, if we have asked who is in it. @type {number | null} */
    this.askedOf = null;
    /** @type {number | undefined} */
    this.asking = undefined;
    /** Whether an answer is on its way, which has all that has happened until then. */
    this.isAsked = false;
    /** Whether its matches are known as they are now: their boards may have been closed since. */
    this.isCurrent = false;
    /** The pictures of boards, by their names. @type {Map<string, HTMLImageElement>} */
    this.pictures = new Map();
    /** Whether there is no such tournament. */
    this.isMissing = false;
    /** What is wrong with the terms of a new one, in the dialog for it. */
    this.problem = h("p.wrong", { role: "alert" });
    state.on("Thud.Tournament", ({ player, tournament }) => {
      if (player !== state.me.player || !this.problem.checkVisibility()) return;
      byId("dialog").close();
      show(tournament);
    });
    state.on("Thud.Refused", ({ code, details, text }) => {
      this.problem.textContent = text ?? "";
      if (code === "no_such_tournament" && details.number === this.number) this.isMissing = true;
    });
    state.on("Thud.Tournament", ({ tournament }) => tournament === this.number && this.askSoon());
    state.on("Thud.Crosstable", ({ tournament }) => {
      if (tournament !== this.number) return;
      this.isAsked = false;
      this.isCurrent = true;
      this.pictures.clear(); // of boards that may have been closed
    });
    state.on("Thud.End", () => this.askSoon());
    state.on("Thud.Me", () => (this.askedOf = null));
    setInterval(() => this.tick(), 1000);
    setInterval(() => this.refresh(), DRAWN_EVERY);
  }

  /** @param {number | null} number */
  open(number) {
    if (number !== this.number) this.isMissing = this.isCurrent = false;
    this.number = number;
    this.isAsked = number !== null;
    if (number !== null) this.ask(`tournament ${number}`);
  }

  /** Ask what has become of it, once for all that happens at a time. */
  askSoon() {
    if (this.number === null || this.isAsked) return;
    clearTimeout(this.asking);
    this.asking = setTimeout(() => !this.isAsked && this.open(this.number), ASKED_AFTER);
  }

  /** Return what is known of the one that is shown, if anything is. */
  get known() {
    return this.number === null ? undefined : this.state.tournaments.get(this.number);
  }

  get title() {
    return this.state.tournamentTitle(Number(this.number));
  }

  /** Show at the top of the hall which tournament begins next. */
  showNext() {
    const { tournaments, crosstables, me } = this.state;
    const open = [...tournaments.values()].filter(({ state }) => state === "open");
    const [next] = open.sort((a, b) => a.starts - b.starts);
    byId("soon").hidden = !next;
    if (!next) return;
    const { tournament: number } = next;
    if (number !== this.askedOf) this.ask(`tournament ${number}`); // who enters or leaves is told
    this.askedOf = number;
    const players = crosstables.get(number)?.players ?? [];
    const isIn = players.some((/** @type {any} */ each) => each.player === me.player && !each.left);
    const join = () => {
      this.enter(next);
      this.page(number);
    };
    const words = ` ${this.when(next).toLowerCase()}${isIn ? ". You’re in." : ""}`;
    fill(
      byId("soon"),
      h("p", {}, this.link(number), words),
      !isIn && h("button", { type: "button", "data-key": "join", click: join }, "Join"),
    );
  }

  /** @param {number} number */
  link(number) {
    return h("a", { href: `/tournament/${number}` }, this.state.tournamentTitle(number));
  }

  /** Show the list in the hall. */
  showList() {
    this.showNext();
    const all = [...this.state.tournaments.values()].sort((a, b) => b.tournament - a.tournament);
    const isOver = (/** @type {Tournament} */ each) => ["over", "cancelled"].includes(each.state);
    const shown = [...all.filter((each) => !isOver(each)), ...all.filter(isOver).slice(0, LATEST)];
    fill(
      byId("tournaments"),
      shown.length
        ? h("ul.list", {}, ...shown.map((each) => this.entry(each)))
        : h("p.hint.none", {}, "None yet."),
      hasFeature("tournaments") &&
        h(
          "button",
          { type: "button", "data-key": "create", "aria-label": "Create a tournament", click: () => this.create() },
          "Create",
        ),
    );
  }

  /** Ask for the terms of a new tournament, until the server takes them. */
  create() {
    if (!this.state.me.member && !hasFeature("guest-tournaments")) {
      this.register("Registered players can announce tournaments.", () => this.create());
      return;
    }
    const field = (/** @type {string} */ label, /** @type {any} */ attributes) =>
      h("label", {}, `${label} `, h("input", attributes));
    const number = { type: "number", min: 1, required: true };
    const rounds = field("Rounds", { ...number, name: "rounds", value: 5 });
    const length = field("Minutes it lasts", { ...number, name: "length", value: 60 });
    const kinds = KINDS.map((kind) => h("option", { value: kind }, capitalised(kind)));
    const change = () => {
      const { kind } = terms.values;
      rounds.hidden = kind !== "swiss";
      length.hidden = kind !== "arena";
    };
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.problem.textContent = "";
      this.send(newLine(terms));
    };
    const form = h(
      "form.challenge",
      { change, submit },
      h(
        "div.terms",
        {},
        h("label", {}, "Kind ", h("select", { name: "kind" }, ...kinds)),
        field("Title", { name: "title", autocomplete: "off" }),
        field("Starts in minutes", { ...number, name: "starts", value: 15 }),
        rounds,
        length,
      ),
      ...copyTerms("rules", "time", "rated"),
      this.problem,
      sending("Announce"),
    );
    const terms = new Terms(/** @type {HTMLFormElement} */ (form), this.state, { time: "10+5" });
    this.problem.textContent = "";
    change();
    open(h("h2", { id: "dialog-title" }, "New tournament"), form);
  }

  /** @param {Tournament} each */
  entry(each) {
    const facts = [capitalised(each.kind), rulesTitle(each.rules), each.time, standing(each)];
    return h(
      "li",
      { "data-key": `tournament-${each.tournament}` },
      h(
        "span.what",
        {},
        this.link(each.tournament),
        h("small", {}, facts.join(" · ")),
      ),
    );
  }

  show() {
    const { known } = this;
    const table = this.isCurrent ? this.state.crosstables.get(this.number ?? 0) : undefined;
    byId("tournament-title").textContent = this.title;
    const link = h("a", { href: "/" }, "The hall");
    const missing = [`There is no tournament ${this.number}. `, link, " lists them all."];
    const facts = known
      ? [
          capitalised(known.kind),
          `${rulesTitle(known.rules)} rules`,
          known.time,
          known.rated === false && "casual",
          known.player && `announced by ${known.player}`,
        ]
          .filter(Boolean)
          .join(" · ")
      : "";
    fill(byId("tournament-facts"), ...(this.isMissing ? missing : [facts]));
    this.tick();
    fill(byId("tournament-actions"), ...this.actions(known, table));
    const hasRounds = known?.round && known.kind !== "arena";
    const legend = [
      hasRounds && "W2: a win against the player in line 2. L: a loss. D: a draw.",
      "±: battle points, won minus lost.",
      TIE_BREAKS[known?.kind ?? ""]?.[2],
    ].filter(Boolean);
    const words = table?.players.length > 0 && h("p.hint", {}, legend.join(" "));
    fill(byId("crosstable"), table && this.crosstable(table, known), words);
    fill(byId("tournament-matches"), ...(table ? this.matches(table) : []));
  }

  /** Show how long there is to go. */
  tick() {
    if (byId("soon").checkVisibility()) this.showNext();
    const { known } = this;
    const when = known ? this.when(known) : "";
    const host = byId("tournament-when");
    if (host.textContent !== when) host.textContent = when;
  }

  /** @param {Tournament} known */
  when(known) {
    const until = (/** @type {number | null} */ at) =>
      clockText(Math.max(0, (at ?? 0) + this.state.skew - Date.now() / 1000));
    if (known.state === "open") return `Starts in ${until(known.starts)}`;
    if (known.state === "running" && known.ends)
      return `${standing(known)} · ${until(known.ends)} left`;
    return capitalised(standing(known));
  }

  /**
   * @param {Tournament | undefined} known
   * @param {any} table
   */
  actions(known, table) {
    if (!this.state.me.player || !known || !table || ["over", "cancelled"].includes(known.state)) return [];
    const { player } = this.state.me;
    const isPlayed = known.state === "running" && known.open === 0 && known.round === known.rounds;
    if (isPlayed) return []; // it is about to end
    const mine = table.players.find((/** @type {any} */ each) => each.player === player);
    const isLate =
      known.state !== "open" &&
      (!["swiss", "arena"].includes(known.kind) ||
        (known.rounds !== null && 2 * (known.round ?? 0) > known.rounds));
    if (mine && !mine.left) return [this.button("Withdraw", `withdraw from ${this.number}`)];
    return mine || isLate ? [] : [this.button("Join", () => this.enter(known), true)];
  }

  /**
   * Enter a tournament; one that takes days is for members, so that a guest registers first.
   *
   * @param {Tournament} tournament
   */
  enter({ tournament, time }) {
    const enter = () => this.send(`enter ${tournament}`);
    if (this.state.me.member || !isByDays(time)) enter();
    else this.register("This tournament takes days: it’s for registered players.", enter);
  }

  /**
   * @param {any} table
   * @param {Tournament | undefined} known
   */
  crosstable({ players, matches }, known) {
    if (!players.length) return h("p.hint", {}, "No one has entered yet.");
    const rounds = known?.kind === "arena" ? 0 : (known?.round ?? 0);
    const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
    const tieBreak = TIE_BREAKS[known?.kind ?? ""];
    const hasPlaces = players.some((/** @type {any} */ each) => each.points); // else all are the first
    /** @type {Map<string, number>} */
    const lines = new Map(
      players.map((/** @type {any} */ each, /** @type {number} */ index) => [
        each.player,
        index + 1,
      ]),
    );
    const column = (/** @type {string} */ text, /** @type {string} */ spoken) =>
      h("th", { scope: "col" }, h("abbr", { title: spoken }, text));
    return h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          column("#", "Place"),
          h("th.name", { scope: "col" }, "Player"),
          ...numbers.map((number) => column(String(number), `Round ${number}`)),
          column("Pts", "Match points"),
          column("±", "Battle points, won minus lost"),
          tieBreak && column(tieBreak[0], `${tieBreak[1]} score`),
        ),
      ),
      h(
        "tbody",
        {},
        ...players.map((/** @type {any} */ each) =>
          h(
            `tr${each.left ? ".left" : ""}${each.player === this.state.me.player ? ".mine" : ""}`,
            { "data-key": each.player },
            h("td", {}, hasPlaces ? String(each.place) : ""),
            h("th.name", { scope: "row" }, playerLink(each.player), each.left && h("small", {}, " left")),
            ...numbers.map((number) => cell(each.player, number, matches, lines)),
            h("td", {}, half(each.points)),
            h("td", {}, signed(each.battle_points)),
            tieBreak && h("td", {}, String(each.tie_break)),
          ),
        ),
      ),
    );
  }

  /** @param {any} table */
  matches({ matches }) {
    const last = Math.max(0, ...matches.map((/** @type {Match} */ each) => each.round));
    const shown = matches.filter((/** @type {Match} */ each) => each.round === last || !each.over);
    const drawn = shown.filter((/** @type {Match} */ each) => each.board).slice(0, BOARDS);
    return [
      last > 0 && h("h2", {}, `Round ${last}`),
      last > 0 && h("ul.list", {}, ...shown.map((/** @type {Match} */ each) => this.match(each))),
      drawn.length > 0 &&
        h(
          "div.boards",
          {},
          ...drawn.map((/** @type {Match} */ each) =>
            h(
              "a",
              { href: `/board/${encodeURIComponent(each.board ?? "")}` },
              this.picture(each),
            ),
          ),
        ),
    ];
  }

  /** @param {Match} match */
  match(match) {
    const { first, second, board, scores, battles, absent, over } = match;
    const facts = second
      ? [
          ...scores.map((each, index) => score(each, battles[index])),
          absent.length > 0 && `forfeit: ${absent.join(" and ")} absent`,
          board,
          !over && !board && "is about to begin",
        ]
      : ["has a bye"];
    const isMine = [first, second].includes(this.state.me.player);
    return h(
      "li",
      { "data-key": `${first}-${second}` },
      h(
        "span.what",
        {},
        h("b", {}, second ? `${first} – ${second}` : first),
        h("small", {}, ...dotted(facts.filter(Boolean))),
      ),
      board &&
        this.button(
          isMine ? "Open" : "Watch",
          `go to ${board}`,
          isMine,
          `${isMine ? "Open" : "Watch"} ${board}`,
        ),
    );
  }

  /**
   * Return the picture of a board, which is loaded once for each answer: the board may be gone by
   * the next one.
   *
   * @param {Match} match
   */
  picture({ board, first, second }) {
    const name = board ?? "";
    const picture =
      this.pictures.get(name) ??
      h("img", {
        src: `/board/${encodeURIComponent(name)}.svg?${Date.now()}`,
        alt: `The ${board}: ${first} and ${second}`,
        width: 240,
        height: 240,
      });
    this.pictures.set(name, /** @type {HTMLImageElement} */ (picture));
    return picture;
  }

  /** Ask anew what there is to be seen, which draws the boards anew. */
  refresh() {
    if (document.body.dataset.view !== "tournament" || document.hidden) return;
    this.open(this.number);
  }

  /**
   * @param {string} label
   * @param {string | (() => void)} does a command, or what else the button does
   * @param {boolean} [isFirst]
   * @param {string} [spoken]
   */
  button(label, does, isFirst = false, spoken) {
    return h(
      `button${isFirst ? ".primary" : ""}`,
      {
        type: "button",
        "data-key": spoken ?? "entry", // the focus stays when the one button for that changes
        "aria-label": spoken,
        click: typeof does === "string" ? () => this.send(does) : does,
      },
      label,
    );
  }
}

/** @param {Tournament} known */
function standing(known) {
  const players = counted(known.entrants, "player");
  if (known.state === "over") return known.winner ? `${known.winner} has won` : "over";
  if (known.state === "cancelled" || known.state === "paused") return known.state;
  if (known.state === "open") return players;
  if (known.kind === "arena")
    return `${players}, ${counted(known.open, "match", "matches")} under way`;
  const of = known.rounds ? ` of ${known.rounds}` : "";
  const stands = known.open ? `${counted(known.open, "match", "matches")} under way` : "all matches played";
  return `round ${known.round}${of}, ${stands}`;
}

/**
 * Return what a player did in a round: against whom, by the line in which they stand.
 *
 * @param {string} player
 * @param {number} round
 * @param {Match[]} matches
 * @param {Map<string, number>} lines
 */
function cell(player, round, matches, lines) {
  const match = matches.find(
    (each) => each.round === round && [each.first, each.second].includes(player),
  );
  if (!match) return h("td", {}, "");
  const other = match.first === player ? match.second : match.first;
  if (other === null) return told("bye", "has a bye");
  const line = lines.get(other);
  if (!match.over) return told(`…${line}`, `plays ${other}`);
  if (match.absent.length) {
    const isAway = match.absent.includes(player);
    return told(
      `${isAway ? "−" : "+"}`,
      isAway ? `did not come to ${other}` : `won: ${other} did not come`,
    );
  }
  const ahead = match.scores.reduce((sum, [one, two]) => sum + one - two, 0);
  const mine = match.first === player ? ahead : -ahead;
  const [letter, words] = mine > 0 ? ["W", "beat"] : mine < 0 ? ["L", "lost to"] : ["D", "drew with"];
  return told(letter + line, `${words} ${other}`, match.battles[0]);
}

/**
 * Return the points of a battle, which lead to its replay.
 *
 * @param {number[]} points
 * @param {number | null} [battle]
 */
function score([one, two], battle) {
  const points = `${one} – ${two}`;
  return battle ? h("a", { href: `/game/${battle}` }, points) : points;
}

/**
 * @param {string} shown
 * @param {string} spoken
 * @param {number | null} [battle] the one to whose replay it leads
 */
function told(shown, spoken, battle) {
  const words = [h("span", { "aria-hidden": "true" }, shown), h("span.unseen", {}, spoken)];
  return h("td", { title: spoken }, ...(battle ? [h("a", { href: `/game/${battle}` }, ...words)] : words));
}

/** @param {number} points */
function half(points) {
  const whole = Math.floor(points);
  return points === whole ? String(whole) : `${whole || ""}½`;
}

/** @param {number} points */
function signed(points) {
  return points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0";
}

/**
 * Return the command that announces a tournament.
 *
 * @param {Terms} terms
 */
function newLine({ values, time }) {
  const { kind, title, rounds, length, starts, rules, rated } = values;
  const words = [
    `tournament new ${kind}`,
    kind === "swiss" && `${rounds} rounds`,
    kind === "arena" && `for ${length} minutes`,
    time,
    rules,
    rated && "unrated",
    title && `"${title.replaceAll('"', "")}"`,
    `starts in ${starts} minutes`,
  ];
  return words.filter(Boolean).join(" ");
}

/**
 * The page of a player: ratings with their curves, battles, and results against others.
 */

import { byId, capitalised, counted, fill, h, playerLink, svg } from "./dom.js";
import { battleEntry } from "./lobby.js";

/** @typedef {import("./state.js").State} State */

/**
 * @typedef {{rules: string, time: string, rating: number | null, battles: number, provisional: boolean}} Rating
 * @typedef {{won: number, drawn: number, lost: number, ratings: Rating[]}} Results
 * @typedef {Results & {level: number | null}} Level the results of a bot at a level
 * @typedef {{rules: string, time: string, points: number[]}} Points
 */

const [WIDTH, HEIGHT, MARGIN] = [320, 90, 6];
const OPPONENTS = 10;

export class PlayerView {
  /** The one who is shown. @type {string | null} */
  name = null;

  /** The last `Thud.Score` and `Thud.History` of theirs. @type {any} */
  score = null;

  /** @type {any} */
  history = null;

  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.ask asks what a command tells, as a fact alone
   * @param {(player: string) => void} outside.challenge asks for the terms of a challenge
   */
  constructor(state, { ask, challenge }) {
    this.state = state;
    this.ask = ask;
    this.challenge = challenge;
    state.on("Thud.Score", (score) => this.isOf(score.player) && (this.score = score));
    state.on("Thud.History", (history) => this.isOf(history.player) && (this.history = history));
  }

  /** @param {string | null} player */
  isOf(player) {
    return player !== null && player.toLowerCase() === this.name?.toLowerCase();
  }

  /** @param {string | null} name */
  open(name) {
    if (!this.isOf(name)) this.score = this.history = null;
    this.name = name;
    if (name === null) return;
    for (const line of [`score ${name}`, `history ${name}`]) this.ask(line);
  }

  show() {
    const { score, history, name } = this;
    const shown = score?.player ?? name;
    byId("player-title").textContent = shown;
    const isHere = this.state.everybody.some((each) => this.isOf(each.player));
    const challenge = () => this.challenge(shown);
    fill(
      byId("player-actions"),
      isHere &&
        !this.isOf(this.state.me.player) &&
        h("button.primary", { type: "button", "data-key": "challenge", click: challenge }, `Challenge ${shown}`),
    );
    fill(byId("player-ratings"), ...(score ? ratings(score) : []));
    fill(byId("player-results"), ...(score ? results(score) : []));
    fill(byId("player-battles"), ...(history ? this.battles(history) : []));
  }

  /** @param {any} history */
  battles({ battles, in_all: inAll }) {
    const more = inAll > battles.length ? `The latest ${battles.length} of ${inAll}.` : "";
    return [
      battles.length
        ? h("ul.list", {}, ...battles.map((each) => battleEntry(each, this.isOf(each.dwarf) ? "dwarf" : "troll")))
        : h("p.hint.none", {}, "None yet."),
      more && h("p.hint", {}, more),
      ...opponents(battles, (player) => this.isOf(player)),
    ];
  }
}

/** @param {any} score */
function ratings({ people, bots, levels, curves, puzzles }) {
  const known = [
    ...people.ratings.map((/** @type {Rating} */ each) => ({ ...each, what: paceOf(each) })),
    ...bots.ratings.map((/** @type {Rating} */ each) => ({
      ...each,
      what: `${capitalised(each.rules)}, against bots`,
      time: "",
    })),
    ...levels.flatMap((/** @type {Level} */ { level, ratings: each }) =>
      each.map((one) => ({ ...one, what: `${capitalised(one.rules)}, ${asBot(level)}`, time: "" })),
    ),
    ...(puzzles.rating === null ? [] : [{ ...puzzles, what: "Puzzles", rules: "", time: "" }]),
  ];
  if (!known.length) return [h("p.hint.none", {}, "No rating yet.")];
  return known.map(({ what, rating, battles, provisional, rules, time }) => {
    const points = curves.find((/** @type {Points} */ each) => each.rules === rules && each.time === time);
    return h(
      "div.rating",
      {},
      h("h3", {}, what),
      h("b", {}, `${rating}${provisional ? "?" : ""}`),
      h("small", {}, ` ${what === "Puzzles" ? counted(battles, "puzzle") : counted(battles, "result")}`),
      points?.points.length > 1 && curve(points.points, what),
    );
  });
}

/**
 * Return at which level a bot has played.
 *
 * @param {number | null} level null for a program of its own
 */
function asBot(level) {
  return level === null ? "as a bot" : `at level ${level}`;
}

/** @param {Results} results */
function total({ won, drawn, lost }) {
  return won + drawn + lost;
}

/** @param {Rating} rating */
function paceOf({ rules, time }) {
  return `${capitalised(rules)}, ${time}`;
}

/**
 * Draw how a rating has changed.
 *
 * @param {number[]} points
 * @param {string} what
 */
function curve(points, what) {
  const [least, most] = [Math.min(...points), Math.max(...points)];
  const x = (/** @type {number} */ index) =>
    MARGIN + (index / (points.length - 1)) * (WIDTH - 2 * MARGIN);
  const y = (/** @type {number} */ value) =>
    HEIGHT - MARGIN - ((value - least) / (most - least || 1)) * (HEIGHT - 2 * MARGIN);
  const line = points.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const matches = counted(points.length - 1, "match", "matches");
  const words =
    `${what}: from ${points[0]} to ${points.at(-1)} in the last ` +
    `${matches}; lowest ${least}, highest ${most}`;
  return h(
    "figure",
    {},
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words },
      svg("polyline", { points: line.join(" ") }),
      svg("circle", { cx: x(points.length - 1), cy: y(points.at(-1) ?? least), r: 4 }),
    ),
    h("figcaption", {}, h("small", {}, `Lowest ${least}, highest ${most}, in the last ${matches}`)),
  );
}

/** @param {any} score */
function results({ people, bots, levels, tournaments }) {
  const row = (/** @type {string} */ against, /** @type {Results} */ { won, drawn, lost }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, against),
      ...[won, drawn, lost].map((each) => h("td", {}, String(each))),
    );
  return [
    table("Results", "Battles", [
      ...(levels.length && !total(people) && !total(bots)
        ? []
        : [row("People", people), row("Bots", bots)]),
      ...levels.map((/** @type {Level} */ each) => row(capitalised(asBot(each.level)), each)),
    ]),
    tournaments.length > 0 && h("h3", {}, "Tournaments"),
    tournaments.length > 0 &&
      h(
        "ul",
        {},
        ...tournaments.map((/** @type {any} */ { tournament, title, place, entrants }) =>
          h(
            "li",
            {},
            h("a", { href: `/tournament/${tournament}` }, title ?? `Tournament ${tournament}`),
            h("small", {}, ` place ${place} of ${entrants}`),
          ),
        ),
      ),
  ];
}

/**
 * Return the results against the opponents in a list of battles, the most frequent first.
 *
 * @param {any[]} battles
 * @param {(player: string | null) => boolean} isMine
 */
function opponents(battles, isMine) {
  /** @type {Map<string, number[]>} */
  const tallies = new Map();
  for (const { dwarf, troll, winner, score } of battles) {
    if (!dwarf || !troll || dwarf === troll || !score) continue;
    const side = isMine(dwarf) ? "dwarf" : "troll";
    const tally = tallies.get(side === "dwarf" ? troll : dwarf) ?? [0, 0, 0];
    tally[winner === null ? 1 : winner === side ? 0 : 2] += 1;
    tallies.set(side === "dwarf" ? troll : dwarf, tally);
  }
  const total = (/** @type {number[]} */ tally) => tally.reduce((sum, each) => sum + each, 0);
  const most = [...tallies].sort(([, one], [, two]) => total(two) - total(one));
  if (!most.length) return [];
  const rows = most
    .slice(0, OPPONENTS)
    .map(([name, tally]) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, playerLink(name)),
        ...tally.map((each) => h("td", {}, String(each))),
      ),
    );
  const title = "Against others, in these battles";
  return [h("h3", {}, title), table(title, "Opponent", rows)];
}

/**
 * @param {string} title for screen readers: a heading shows it
 * @param {string} first heading of the first column
 * @param {HTMLElement[]} rows
 */
function table(title, first, rows) {
  const heads = [first, "Won", "Drawn", "Lost"].map((each) => h("th", { scope: "col" }, each));
  return h(
    "table.results",
    {},
    h("caption.unseen", {}, title),
    h("thead", {}, h("tr", {}, ...heads)),
    h("tbody", {}, ...rows),
  );
}

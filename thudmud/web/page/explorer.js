/**
 * What others have played from a position, in all battles that are over: a table that is asked for
 * while it is open.
 */

import { counted, fill, h, hasFeature, svg } from "./dom.js";
import { shortPly, spokenPly } from "./position.js";
import { change, settings } from "./settings.js";

/** The name of its questions, which the answers repeat. */
export const EXPLORER = "explorer";

const WAIT = 150; // milliseconds: whoever goes quickly through the plies asks about the last one

/** Why there is nothing to be seen. */
const REFUSED = /** @type {Record<string, string>} */ ({
  no_exploring_rated: "Your battle counts for ratings. You can explore it once it is over.",
  no_exploring_playing: "You are playing there. You can explore the battle once it is over.",
  explore_later: "This battle is not over yet. It can be explored afterwards.",
});

/**
 * @typedef {object} Where a position: of a battle, or what stands on a board before the first
 * @property {number | null} battle
 * @property {string | null} board
 * @property {number} ply
 * @property {number} [version] of what stands there, if it may change
 * @property {boolean} [isEnd] whether the battle ended there
 *
 * @typedef {{battle: number, dwarf: string | null, troll: string | null, at: number, ratings: Record<"dwarf" | "troll", number | null>}} Best
 */

/**
 * Whether a refusal is the answer to one of its questions.
 *
 * @param {{id?: unknown, code: string}} refused
 */
export function isOfExplorer({ id, code }) {
  return id === EXPLORER || (id === undefined && code === "explore_later");
}

export class Explorer {
  /**
   * @param {HTMLDetailsElement} host
   * @param {import("./state.js").State} state
   * @param {(where: Where) => void} ask asks for what was played from somewhere
   */
  constructor(host, state, ask) {
    this.host = host;
    this.ask = ask;
    /** @type {Where | null} */
    this.where = null;
    /** What is known of it. @type {any} */
    this.found = null;
    this.words = "";
    /** @type {number | undefined} */
    this.timer = undefined;
    this.content = h("div");
    /** Whether it has just been opened: what it finds is scrolled to. */
    this.isNew = false;
    host.append(h("summary", {}, "Opening explorer"), this.content);
    host.addEventListener("toggle", () => {
      this.isNew = host.open && !settings.explores;
      if (host.open !== settings.explores) change({ explores: host.open });
      this.wish();
    });
    state.on("Thud.Explored", (found) => this.take(found));
    state.on("Thud.Refused", (refused) => {
      if (isOfExplorer(refused)) this.say(REFUSED[refused.code] ?? "There are no statistics for this position.");
    });
    state.on("Thud.Me", () => (this.where = null)); // what is asked on a link may be lost with it
  }

  /**
   * Show what was played from a position.
   *
   * @param {Where | null} where null if there is nothing to be shown
   * @param {boolean} [isVariation] whether that is so because it is a variation, which nobody has played
   */
  show(where, isVariation = false) {
    this.host.hidden = !(where || isVariation) || !hasFeature("explorer");
    this.host.open = settings.explores;
    if (where && this.where && sameAs(where, this.where)) return;
    this.where = where;
    this.found = null;
    this.words = where ? "Loading …" : "No statistics for variations.";
    this.wish();
  }

  /** Ask, if somebody looks, and nothing is known yet. */
  wish() {
    clearTimeout(this.timer);
    const { where } = this;
    if (!this.host.open || this.host.hidden) return;
    if (where && !this.found) this.timer = setTimeout(() => this.ask(where), WAIT);
    this.draw();
  }

  /** @param {any} found a `Thud.Explored` */
  take(found) {
    const { where } = this;
    if (!where || found.battle !== where.battle || found.ply !== where.ply) return;
    if (where.battle === null && found.board !== where.board) return;
    this.found = found;
    this.draw();
  }

  /** @param {string} words */
  say(words) {
    if (!this.where || this.found) return;
    this.words = words;
    this.draw();
  }

  draw() {
    const { found } = this;
    if (!found) {
      fill(this.content, h("p.hint", {}, this.words));
      return;
    }
    const isEnd = this.where?.isEnd;
    const left = found.left && `${counted(found.left, "battle")} are not counted yet.`;
    fill(
      this.content,
      found.plies.length
        ? this.table(found)
        : !isEnd && h("p.hint", {}, "No finished battle has reached this position."),
      isEnd && h("p.hint", {}, "The battle ended here."),
      found.others > 0 &&
        h("p.hint", {}, `${counted(found.others, "rarer move")} not shown.`),
      found.best && h("p", {}, "Best known: ", battle(found.best, "best"), ` ${told(found.best)}`),
      found.plies.length > 0 && h("p.hint", {}, "Mirrored positions count as one."),
      left && h("p.hint", {}, left),
    );
    if (this.isNew) this.content.scrollIntoView({ block: "nearest" });
    this.isNew = false;
  }

  /** @param {any} found */
  table({ times, plies, next }) {
    const head = ["Move", "Times", "Won", "Points", "Battle"];
    return h(
      "table",
      {},
      h("caption.unseen", {}, `What was played from here, ${counted(times, "time")}`),
      h("thead", {}, h("tr", {}, ...head.map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, ...plies.map((/** @type {any} */ each) => this.row(each, next))),
    );
  }

  /**
   * @param {any} ply
   * @param {string | null} next what this battle has played
   */
  row(ply, next) {
    const { times, dwarf, drawn, troll, lead, best } = ply;
    const words = `dwarfs won ${dwarf}, drawn ${drawn}, trolls won ${troll}`;
    const isNext = ply.record === next;
    return h(
      isNext ? "tr.next" : "tr",
      { "aria-current": isNext && "step" },
      h(
        "th",
        { scope: "row" },
        h("span", { "aria-hidden": "true" }, shortPly(ply)),
        unseen(spokenPly(ply)),
      ),
      h("td.number", {}, String(times)),
      h("td", { title: words }, bar(dwarf, drawn, troll), unseen(words)),
      h("td.number", {}, lead === null ? "" : `${lead > 0 ? "+" : ""}${lead.toFixed(1).replace("-", "−")}`),
      h("td.number", {}, battle(best, ply.record)),
    );
  }
}

/**
 * @param {Where} one
 * @param {Where} other
 */
function sameAs(one, other) {
  return (
    one.battle === other.battle &&
    one.board === other.board &&
    one.ply === other.ply &&
    one.version === other.version
  );
}

/** @param {string} words */
function unseen(words) {
  return h("span.unseen", {}, words);
}

/**
 * Return a bar of how battles ended; a screen reader has the numbers.
 *
 * @param {number} dwarf
 * @param {number} drawn
 * @param {number} troll
 */
function bar(dwarf, drawn, troll) {
  const all = dwarf + drawn + troll;
  if (!all) return h("span", { "aria-hidden": "true" }, "–");
  let x = 0;
  const parts = Object.entries({ dwarf, drawn, troll }).map(([side, number]) => {
    const width = (100 * number) / all;
    const part = svg("rect", { class: `won-${side}`, x, width, height: 10 });
    x += width;
    return part;
  });
  return svg(
    "svg",
    { class: "won", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...parts,
  );
}

/**
 * Return the link to a battle.
 *
 * @param {Best} best
 * @param {string} key
 */
function battle(best, key) {
  const { battle } = best;
  return h(
    "a",
    {
      href: `/game/${battle}`,
      title: told(best),
      "aria-label": `Battle #${battle}, ${told(best)}`,
      "data-key": `explored-${key}`,
    },
    `#${battle}`,
  );
}

/** @param {Best} best */
function told({ dwarf, troll, ratings, at }) {
  const date = new Date(at * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
  const rated = (/** @type {number | null} */ rating) => (rating === null ? "" : ` (${rating})`);
  const names = `${dwarf ?? "somebody"}${rated(ratings.dwarf)} – ${troll ?? "somebody"}`;
  return `${names}${rated(ratings.troll)}, ${date}`;
}

/**
 * `<thud-game>`: a battle to step through, in a page of anybody's. It needs no server.
 *
 *     <script type="module" src="thud-game.js"></script>
 *     <thud-game record="game.thud"></thud-game>
 *
 * The record is at that address, or it is the text of the element. `ply` says which ply is shown
 * first, `side="north"` turns the board, `theme` is "light" or "dark" (else as the reader has it),
 * `scheme` a scheme of colours. With `live="5"` the record is fetched again every five seconds, once
 * the battle is over each minute, and the last ply is followed. `link` is where the battle can be
 * seen on a server.
 *
 * `thudmud.web.viewer` makes one file of this and what it stands on.
 */

import { BoardView } from "./board.js";
import { capitalised, counted, fill, h, rulesTitle, svg, token } from "./dom.js";
import { MoveList, asOf, tools } from "./moves.js";
import { count, played, spokenPly } from "./position.js";
import { readRecord } from "./record.js";

/** @typedef {import("./position.js").Side} Side */

const OPEN = "M14 4h6v6M20 4l-9 9M17 13v6H5V7h6";
const LEAST = 2; // seconds between two looks
const AFTER = 60; // the same once the battle is over
const KEYS = /** @type {Record<string, (view: ThudGame) => number>} */ ({
  ArrowLeft: ({ at }) => at - 1,
  ArrowRight: ({ at }) => at + 1,
  Home: () => 0,
  End: ({ battle }) => battle?.ply ?? 0,
});

export class ThudGame extends HTMLElement {
  static observedAttributes = ["record", "ply", "side", "live"];
  static pieces = ""; // the symbols, as SVG
  static style = "";

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet(); // which a page's own policy does not forbid
    sheet.replaceSync(ThudGame.style);
    root.adoptedStyleSheets = [sheet];
    const pieces = new DOMParser().parseFromString(ThudGame.pieces, "image/svg+xml");
    this.parts = {
      top: h("div.strip"),
      board: h("div.board-host"),
      bottom: h("div.strip"),
      steps: h("div.steps"),
      facts: h("p.facts"),
      moves: h("ol.moves", { "aria-label": "Moves" }),
      comments: h("div.comments"),
      status: h("p.unseen", { role: "status" }),
    };
    const { top, board, bottom, ...panel } = this.parts;
    this.whole = h(
      "section.viewer",
      {},
      h("div.side", {}, top, board, bottom),
      h("div.side.panel", {}, ...Object.values(panel)),
    );
    root.append(document.importNode(pieces.documentElement, true), this.whole);
    this.moves = new MoveList(this.parts.moves, (ply) => this.step(ply));
    this.view = new BoardView(board, {
      pick: () => {},
      lift: () => false,
      drop: () => {},
      key: (key) => this.key(key),
    });
    /** @type {(ReturnType<typeof readRecord> & {position: any, ply: number}) | null} */
    this.battle = null;
    this.at = 0;
    this.text = "";
    this.timer = 0;
    root.addEventListener("keydown", (event) => this.typed(/** @type {KeyboardEvent} */ (event)));
  }

  connectedCallback() {
    this.load();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  /** @param {string} name */
  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === "ply") this.step(this.wanted());
    else if (name === "side") this.show();
    else this.load();
  }

  /** Show the record, and look again after a while if it may go on. */
  async load() {
    clearTimeout(this.timer);
    const address = this.getAttribute("record");
    try {
      if (!address) this.take(this.textContent ?? "");
      else if (!this.battle || !document.hidden) this.take(await fetched(address));
    } catch (error) {
      if (!this.battle) this.fail(/** @type {Error} */ (error).message);
    }
    const seconds = Number(this.getAttribute("live"));
    const pause = this.battle?.headers.has("Ending") ? AFTER : Math.max(LEAST, seconds);
    if (seconds && this.isConnected) this.timer = setTimeout(() => this.load(), 1000 * pause);
  }

  /** @param {string} text */
  take(text) {
    if (text === this.text) return;
    const told = readRecord(text.trim());
    const { battle } = this;
    const isAtEnd = !battle || this.at === battle.ply;
    const isOther = battle?.plies.some((each, at) => each.record !== told.plies[at]?.record);
    const position = told.plies.reduce(played, told.opening);
    this.text = text;
    this.whole.classList.remove("failed");
    this.battle = { ...told, position, ply: told.plies.length };
    if (!battle) this.at = this.wanted();
    else if (isAtEnd || isOther) this.at = this.battle.ply;
    this.show();
  }

  /** Return the ply that is to be shown first: the last, if nothing is said of it. */
  wanted() {
    const last = this.battle?.ply ?? 0;
    const said = this.getAttribute("ply");
    return said === null ? last : Math.max(0, Math.min(Number(said) || 0, last));
  }

  /** @param {string} why */
  fail(why) {
    this.whole.classList.add("failed");
    this.parts.facts.textContent = `This battle cannot be shown: ${why}.`;
  }

  /** @param {number} ply */
  step(ply) {
    const { battle } = this;
    if (!battle) return;
    this.at = Math.max(0, Math.min(ply, battle.ply));
    this.show();
    const last = battle.plies[this.at - 1];
    this.parts.status.textContent = last ? `Move ${this.at}: ${spokenPly(last)}` : "Starting position";
    this.dispatchEvent(new CustomEvent("ply", { detail: this.at, bubbles: true, composed: true }));
  }

  flip() {
    this.setAttribute("side", this.getAttribute("side") === "north" ? "south" : "north");
  }

  /** @param {string} key */
  key(key) {
    if (key === "f") this.flip();
    return key === "f";
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    const isOnBoard = event.target instanceof Element && event.target.closest(".cells");
    if (isOnBoard || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
    this.step(KEYS[event.key](this));
    event.preventDefault();
  }

  show() {
    const { battle, parts } = this;
    if (!battle) return;
    const { position, last } = asOf(battle, this.at);
    const names = /** @type {Side[]} */ (["dwarf", "troll"]).map((side) => this.player(side));
    this.whole.setAttribute("aria-label", `Thud: ${names.join(" against ")}`);
    const isFlipped = this.getAttribute("side") === "north";
    this.view.flip(isFlipped);
    this.view.show(position, last, `Board after ${counted(this.at, "move")}`);
    for (const [part, side] of /** @type {["top" | "bottom", Side][]} */ ([
      [isFlipped ? "bottom" : "top", "troll"],
      [isFlipped ? "top" : "bottom", "dwarf"],
    ])) {
      fill(
        parts[part],
        token(side),
        h("span.name", {}, this.player(side)),
        battle.headers.get("Winner") === side && h("span.badge", {}, "won"),
        h("span.left", {}, `${count(position, side)}`, h("small", {}, " left")),
      );
    }
    const [first, back, next, end, flip] = tools(this.at, 0, battle.ply, {
      step: (ply) => this.step(ply),
      flip: () => this.flip(),
    });
    fill(parts.steps, first, back, next, end, flip, this.link());
    parts.facts.textContent = this.facts();
    this.moves.show(battle.plies, this.at);
    const said = battle.comments.filter((each) => each.ply === this.at);
    fill(
      parts.comments,
      ...said.map(({ player, text }) => h("p", {}, h("b", {}, player || "Somebody"), `: ${text}`)),
    );
  }

  /** Return what leads to the battle on a server, if that is known. */
  link() {
    const address = this.getAttribute("link");
    if (!address) return null;
    const href = `${address}${this.at === this.battle?.ply ? "" : `#ply=${this.at}`}`;
    const picture = svg("svg", { viewBox: "0 0 24 24" }, svg("path", { d: OPEN }));
    const label = "Open on its server";
    return h(
      "a.icon",
      { href, target: "_blank", rel: "noopener", title: label, "aria-label": label },
      picture,
    );
  }

  /** @param {Side} side */
  player(side) {
    return this.battle?.headers.get(capitalised(side)) || `${side}s`;
  }

  facts() {
    const { headers, ply } = /** @type {NonNullable<typeof this.battle>} */ (this.battle);
    const [rules, winner] = [headers.get("Rules"), headers.get("Winner")];
    const facts = [rules && `${rulesTitle(rules)} rules`, headers.get("Date")];
    facts.push(counted(ply, "move"), headers.get("Ending"));
    if (winner) facts.push(winner === "none" ? "a draw" : `the ${winner}s won`);
    return facts.filter(Boolean).join(" · ");
  }
}

/** @param {string} address */
async function fetched(address) {
  const answer = await fetch(address, { credentials: "omit" });
  if (!answer.ok) throw new Error("there is no record of it");
  return answer.text();
}

/**
 * Make `<thud-game>` an element of the page.
 *
 * @param {string} pieces the symbols, as SVG
 * @param {string} style
 */
export function define(pieces, style) {
  Object.assign(ThudGame, { pieces, style });
  if (!customElements.get("thud-game")) customElements.define("thud-game", ThudGame);
}

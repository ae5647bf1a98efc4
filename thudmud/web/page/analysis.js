/**
 * The analysis board: both sides' pieces are moved freely, by the rules, from any position of a
 * battle that is over. The moves become variations in a tree. The server says what is legal, and
 * evaluates positions while the engine is on.
 */

import { say, warn } from "./announce.js";
import { worthWords } from "./curve.js";
import { showChoice } from "./choice.js";
import { open } from "./dialogs.js";
import { capitalised, fill, h } from "./dom.js";
import { Mover } from "./mover.js";
import { lineWords, shortPly, spokenPly } from "./position.js";
import { read, write } from "./settings.js";
import { Tree } from "./tree.js";
import { TreeList } from "./treelist.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./tree.js").TreeNode} Node */

/** The names of its questions, which the answers repeat. */
const VARIATION = "variation";
const EVALUATION = "evaluation";

const WAIT = 150; // milliseconds: whoever goes quickly through the moves asks about the last one
const RETRY = 1500; // milliseconds after which a question is asked again that came too early
const LONGEST = 1000; // characters of a command
const FORESEEN = 5; // moves of the best line in words

/** Why there is nothing to be seen. */
const REFUSED = /** @type {Record<string, string>} */ ({
  no_variations_rated: "Your battle counts for ratings. You can analyse it once it is over.",
  variation_later: "This battle is not over yet. It can be analysed afterwards.",
  variation_too_long: "This variation can’t get longer.",
  no_evaluations: "This server has no engine.",
});

/**
 * Whether a refusal is the answer to one of its questions.
 *
 * @param {{id?: unknown}} refused
 */
export function isOfAnalysis({ id }) {
  return id === VARIATION || id === EVALUATION;
}

export class AnalysisBoard {
  /**
   * @param {import("./state.js").State} state
   * @param {object} hosts
   * @param {HTMLElement} hosts.tree
   * @param {HTMLElement} hosts.choice
   * @param {HTMLElement} hosts.engine
   * @param {object} outside
   * @param {(line: string, id: string) => void} outside.question asks what a command tells
   * @param {(line: string) => void} outside.send sends a command
   * @param {(marks: import("./board.js").Marks) => void} outside.mark
   * @param {() => void} outside.changed is told that there is something else to be shown
   */
  constructor(state, hosts, outside) {
    this.state = state;
    this.hosts = hosts;
    this.outside = outside;
    this.battle = 0;
    /** @type {Tree | null} */
    this.tree = null;
    this.isOpen = false;
    this.isEngineOn = false;
    /** The position that the engine was asked about, until it answers. @type {Node | null} */
    this.evaluated = null;
    /** What the engine can't do. */
    this.problem = "";
    /** The position that was asked about last. @type {Node | null} */
    this.asked = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.list = new TreeList(hosts.tree, {
      go: (node) => this.go(node),
      step: (ply) => this.step(ply),
      prune: () => this.prune(),
    });
    this.mover = new Mover({
      ask: (_, from) => this.answerMover(from),
      send: () => this.play(),
      show: (marks) => {
        if (!this.isOpen) return;
        outside.mark(marks);
        showChoice(hosts.choice, this.mover);
      },
      whose: () => `It’s the ${this.turn}s’ turn.`,
    });
    state.on("Thud.Variation", (fact) => this.take(fact));
    state.on("Thud.Evaluation", (fact) => this.takeEvaluation(fact));
    state.on("Thud.Refused", (refused) => this.refused(refused));
    state.on("Thud.Me", () => (this.asked = this.evaluated = null)); // lost with the connection
  }

  /**
   * Begin anew with a battle.
   *
   * @param {number} battle
   * @param {import("./position.js").Position} opening
   * @param {import("./position.js").Ply[]} plies
   */
  load(battle, opening, plies) {
    this.battle = battle;
    this.tree = new Tree(opening, plies);
    this.tree.restore(read(this.kept, "sessionStorage") ?? []);
    this.asked = this.evaluated = null;
  }

  /** Where the variations are kept as long as the page is open. */
  get kept() {
    return `thud.variations.${this.battle}`;
  }

  /** The variations have changed: keep them. */
  keep() {
    write(this.kept, this.tree?.variations ?? null, "sessionStorage");
    this.outside.changed();
  }

  /** Delete all variations. */
  clear() {
    this.tree?.clear();
    say("All variations are deleted.");
    this.keep();
  }

  /** @param {number} ply of the battle, to begin with */
  open(ply) {
    if (!this.tree) return;
    this.isOpen = true;
    this.tree.goToMain(ply);
    say("Analysis board: move the pieces of both sides.");
    this.outside.changed();
  }

  close() {
    this.isOpen = false;
    this.mover.cancel();
    showChoice(this.hosts.choice, this.mover);
    this.outside.changed();
  }

  /** @param {Node} node */
  go(node) {
    if (!this.tree) return;
    this.tree.current = node;
    this.outside.changed();
  }

  /** @param {number} ply */
  step(ply) {
    this.tree?.step(ply);
    this.outside.changed();
  }

  prune() {
    if (!this.tree || this.tree.current.isMain) return;
    const { ply } = this.tree.current;
    this.tree.prune();
    say(`Deleted from move ${ply} on.`);
    this.keep();
  }

  /** The side that moves the pieces; null if the battle is over, or before that is known. */
  get turn() {
    const { current } = /** @type {Tree} */ (this.tree);
    return current.known ? current.known.turn : this.guessTurn(current);
  }

  /**
   * @param {Node} node
   * @returns {Side}
   */
  guessTurn({ move, children }) {
    const sideOf = (/** @type {{piece: string}} */ { piece }) =>
      piece === "troll" ? "troll" : "dwarf";
    if (!move) return children[0]?.move ? sideOf(children[0].move) : "dwarf";
    return sideOf(move) === "troll" ? "dwarf" : "troll";
  }

  /**
   * Show the moves and what is known of the position; the board is shown by the replay.
   *
   * @param {Map<number, string>} marks of the moves of the battle itself
   */
  show(marks) {
    const { tree, hosts } = this;
    for (const host of [hosts.tree, hosts.engine]) host.hidden = !this.isOpen;
    if (!this.isOpen || !tree) return;
    const { position, ply, branch, line } = tree.current;
    const key = `${branch} ${line.join(" ")}`;
    const fake = { board: key, version: 0, battle: this.battle, ply, position };
    this.mover.set(/** @type {any} */ (fake), this.turn);
    this.list.show(tree, marks);
    this.showEngine();
    this.wish();
  }

  /** Ask about the position, unless all of it is known. */
  wish() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  ask() {
    if (!this.isOpen || !this.tree) return;
    const { current } = this.tree;
    if (!current.known && this.asked !== current) {
      this.asked = current;
      if (!this.question(VARIATION, current)) warn(REFUSED.variation_too_long);
    }
    const isFree = this.isEngineOn && this.evaluated !== current && !this.problem;
    const isUnknown = (current.evaluation?.thinking ?? true) && current.known?.turn;
    if (isFree && isUnknown && this.question(EVALUATION, current)) this.evaluated = current;
  }

  /**
   * @param {string} id
   * @param {Node} node
   */
  question(id, node) {
    const line = `${id === VARIATION ? "variation" : "evaluate"} ${this.where(node)}`;
    if (line.length <= LONGEST) this.outside.question(line, id);
    return line.length <= LONGEST;
  }

  /**
   * Return a position as commands take it.
   *
   * @param {Node} node
   */
  where({ branch, line }) {
    return [this.battle, ...(branch ? [branch] : []), ...line].join(" ");
  }

  /** @param {any} fact a `Thud.Variation` */
  take(fact) {
    const node = fact.battle === this.battle ? this.tree?.find(fact) : null;
    if (!node) return;
    node.known = fact;
    if (node !== this.tree?.current || !this.isOpen) return;
    this.mover.side = fact.turn;
    if (this.mover.selected) this.answerMover(this.mover.selected);
    if (!fact.turn) say("The battle is over in this position.");
  }

  /** @param {any} fact a `Thud.Evaluation` */
  takeEvaluation(fact) {
    const node = fact.battle === this.battle ? this.tree?.find(fact) : null;
    if (node) node.evaluation = fact;
    if (node === this.evaluated && !fact.thinking) this.evaluated = null;
  }

  /** @param {{id?: unknown, code: string}} refused */
  refused({ id, code }) {
    if (id === VARIATION) {
      warn(REFUSED[code] ?? "That is not possible.");
      if (!this.tree || !this.asked || this.asked.isMain) {
        this.close();
        return;
      }
      this.tree.current = this.asked;
      this.prune();
    } else if (id === EVALUATION) {
      this.evaluated = null;
      this.problem = REFUSED[code] ?? "";
      clearTimeout(this.timer);
      if (!this.problem) this.timer = setTimeout(() => this.ask(), RETRY);
    }
  }

  /**
   * Tell the mover what a piece can do, if that is known.
   *
   * @param {string} from
   */
  answerMover(from) {
    const { current } = /** @type {Tree} */ (this.tree);
    if (!current.known) return; // it is told later
    const legal = current.known.legal.find((/** @type {any} */ each) => each.from === from);
    const { board } = this.mover;
    const answer = { board: board?.board ?? "", battle: this.battle, ply: current.ply, from };
    queueMicrotask(() => this.mover.answered({ ...answer, ways: legal?.ways ?? [] }));
  }

  /** Play the move that has been put together. */
  play() {
    const { mover, tree } = this;
    const way = mover.fitting();
    const { selected, landing, chosen } = mover;
    if (!tree || !way || !selected || !landing) return;
    const piece = /** @type {any} */ (tree.current.position.get(selected));
    const { verb, trample } = way;
    const move = { piece, verb, from: selected, to: landing, captures: [...chosen], trample };
    tree.play(move);
    say(spokenPly(move));
    this.keep();
  }

  // The engine.

  toggleEngine() {
    this.isEngineOn = !this.isEngineOn;
    this.problem = "";
    this.outside.changed();
  }

  showEngine() {
    const { current } = /** @type {Tree} */ (this.tree);
    const words = this.isEngineOn ? this.engineWords(current) : "";
    const button = h(
      "button",
      {
        type: "button",
        "data-key": "engine",
        "aria-pressed": String(this.isEngineOn),
        click: () => this.toggleEngine(),
      },
      "Engine",
    );
    const said = words && current.evaluation?.thinking ? "Thinking …" : words; // what is done is said once
    fill(
      this.hosts.engine,
      button,
      h("p", { "aria-hidden": "true" }, words),
      h("span.unseen", { "aria-live": "polite" }, said),
    );
  }

  /** Whether an analysis of the player's is under way, which comes first. */
  get isEngineBusy() {
    return [...this.state.analyses.values()].some(({ done, plies }) => done < plies);
  }

  /** @param {Node} node */
  engineWords({ known, evaluation }) {
    if (this.problem) return this.problem;
    if (known && !known.turn) return "The battle is over in this position.";
    if (!evaluation) return this.isEngineBusy ? "Waiting for the engine …" : "Thinking …";
    const worth = worthWords(evaluation.worth);
    const best = lineWords(evaluation.best.slice(0, FORESEEN).map(shortPly));
    const depth = `depth ${evaluation.depth}${evaluation.thinking ? " …" : ""}`;
    return `${capitalised(worth)} (${depth}). Best: ${best}.`;
  }

  /**
   * Return the engine's best move and the reply to it, as arrows.
   *
   * @returns {import("./board.js").Annotation[]}
   */
  get arrows() {
    const evaluation = this.isOpen && this.isEngineOn && this.tree?.current.evaluation;
    if (!evaluation) return [];
    const [best, reply] = evaluation.best;
    const arrows = [{ from: best.from, to: best.to, kind: "best" }];
    return reply ? [{ from: reply.from, to: reply.to, kind: "reply" }, ...arrows] : arrows;
  }

  // Playing on.

  /** Ask which side to play against a bot, from the current position. */
  playOn() {
    const { current } = /** @type {Tree} */ (this.tree);
    const as = (/** @type {Side} */ side) => () => {
      dialog.close();
      this.outside.send(`retry ${this.where(current)} as ${side}`);
    };
    const button = (/** @type {string} */ label, /** @type {Side} */ side) =>
      h(
        `button${this.turn === side ? ".primary" : ""}`,
        { type: "button", click: as(side) },
        label,
      );
    const dialog = open(
      h("h2", { id: "dialog-title" }, "Play from here against a bot"),
      h(
        "form.row",
        { method: "dialog" },
        button("As the dwarfs", "dwarf"),
        button("As the trolls", "troll"),
        h("button", { value: "", autofocus: true }, "Cancel"),
      ),
    );
  }
}

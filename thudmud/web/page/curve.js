/**
 * What an analysis has found of a battle: a curve to click on, and what would have been better.
 */

import { fill, h, svg } from "./dom.js";
import { lineWords, shortRecord } from "./position.js";

const WON = 10000; // what a battle that is won is worth, in hundredths of a point
const SHOWN = 4; // moves of a line: two lines of text
const TALL = 1600; // beyond so many hundredths the curve is at its edge
const MARKS = /** @type {Record<string, string>} */ ({
  "?!": "An inaccuracy",
  "?": "A mistake",
  "??": "A blunder",
});
const [WIDTH, HEIGHT] = [300, 80];
const MARGIN = 6; // at its edge, marks are seen as well

export class Curve {
  /**
   * @param {HTMLElement} host a figure
   * @param {(ply: number) => void} step is told which ply is to be shown
   * @param {(line: string) => void} send sends a command
   */
  constructor(host, step, send) {
    this.host = host;
    this.step = step;
    this.send = send;
    this.caption = h("figcaption");
    this.graph = h("div.graph");
    this.verdict = h("p"); // it is read out after the move
    host.tabIndex = -1; // the focus goes there from the button that asks for it
    host.append(this.caption, this.graph, this.verdict);
  }

  /**
   * Show an analysis, as far as it has come, and where in it we are.
   *
   * @param {any} analysis the last `Thud.Analysis` of the battle
   * @param {number | null} at the ply that is shown; null in a variation, of which it says nothing
   */
  show(analysis, at) {
    this.host.hidden = !analysis;
    this.host.classList.toggle("aside", at === null);
    const hadFocus = this.graph.contains(document.activeElement);
    if (!analysis) fill(this.graph);
    if (!analysis) return;
    const { done, plies, worth, better } = analysis;
    if (done < plies) {
      this.caption.textContent = done ? `Analysed ${done} of ${plies} moves` : "Analysis under way …";
      const cancel = () => this.send("analyse cancel");
      fill(
        this.graph,
        h("progress", { max: plies, value: done, "aria-label": "Analysis" }),
        h("button", { type: "button", "data-key": "cancel", click: cancel }, "Cancel"),
      );
    } else {
      const after = at ? `After move ${at}` : "At the start";
      this.caption.textContent =
        at === null ? "The game, not this variation" : `${after}: ${worthWords(worth[at] ?? 0)}`;
      fill(this.graph, this.picture(analysis, at));
      if (hadFocus) this.host.focus(); // it was on the button
    }
    const found = better.find((/** @type {any} */ each) => each.ply === at && each.mark);
    this.verdict.textContent = found ? verdictWords(found) : "";
  }

  /**
   * Draw what the battle was worth, ply by ply: up is good for the dwarfs.
   *
   * @param {any} analysis
   * @param {number | null} at
   */
  picture({ worth, better }, at) {
    const last = Math.max(1, worth.length - 1);
    const x = (/** @type {number} */ ply) => MARGIN + (ply / last) * (WIDTH - 2 * MARGIN);
    const y = (/** @type {number} */ each) =>
      HEIGHT / 2 - Math.max(-1, Math.min(1, each / TALL)) * (HEIGHT / 2 - MARGIN);
    const spot = (/** @type {number} */ ply) => `${x(ply).toFixed(1)},${y(worth[ply]).toFixed(1)}`;
    const line = worth.map((/** @type {number} */ _, /** @type {number} */ ply) => spot(ply));
    const marked = better.filter((/** @type {any} */ each) => each.mark);
    return svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true", // the list of the plies has the same marks
        click: /** @type {EventListener} */ (
          (event) => this.clicked(/** @type {MouseEvent} */ (event), last)
        ),
      },
      svg("path", {
        class: "area",
        d: `M${x(0)},${HEIGHT / 2}L${line.join("L")}L${x(worth.length - 1)},${HEIGHT / 2}Z`,
      }),
      svg("path", { class: "zero", d: `M0,${HEIGHT / 2}H${WIDTH}` }),
      svg("path", { class: "worth", d: `M${line.join("L")}` }),
      at !== null && svg("path", { class: "now", d: `M${x(at)},0V${HEIGHT}` }),
      ...marked.map((/** @type {any} */ each) =>
        // A line without a length has round ends, which stay round however wide the picture is.
        svg(
          "path",
          { class: each.mark === "??" ? "slip blunder" : "slip", d: `M${spot(each.ply)}h0` },
          svg("title", {}, `Move ${each.ply}: ${MARKS[each.mark].toLowerCase()}`),
        ),
      ),
    );
  }

  /**
   * @param {MouseEvent} event
   * @param {number} last
   */
  clicked(event, last) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * WIDTH;
    const ply = Math.round(((across - MARGIN) / (WIDTH - 2 * MARGIN)) * last);
    this.step(Math.max(0, Math.min(ply, last)));
  }
}

/**
 * Return the marks of an analysis, by plies.
 *
 * @param {any} analysis
 * @returns {Map<number, string>}
 */
export function marksOf(analysis) {
  const marked = (analysis?.better ?? []).filter((/** @type {any} */ each) => each.mark);
  return new Map(marked.map((/** @type {any} */ each) => [each.ply, each.mark]));
}

/**
 * Return what was wrong with a marked ply, and what would have been better.
 *
 * @param {any} better
 */
function verdictWords({ mark, lost, slide, line }) {
  const points = ((slide ?? lost) / 100).toFixed(1);
  const loss = slide ? `small losses add up to ${points} points` : `it loses ${points} points`;
  const was = line.length ? ` Better was ${lineWords(line.slice(0, SHOWN).map(shortRecord))}.` : "";
  return `${MARKS[mark]}: ${loss}.${was}`;
}

/**
 * @param {number} worth in hundredths of a point, below 0 if it is good for the trolls
 */
export function worthWords(worth) {
  const who = worth > 0 ? "the dwarfs" : "the trolls";
  if (Math.abs(worth) >= WON) return `${who} win`;
  if (!worth) return "even";
  return `${who} are ahead by ${(Math.abs(worth) / 100).toFixed(1)} points`;
}

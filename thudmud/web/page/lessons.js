/**
 * The list of lessons and puzzles, with what the player has done.
 */

import { byId, counted, fill, h, token } from "./dom.js";
import { keepDone, keptDone } from "./settings.js";

/** @typedef {import("./state.js").State} State */

/**
 * @typedef {{number: number, title: string, done: boolean}} Lesson
 * @typedef {{number: number, rules: string, side: string, tried: boolean, solved: boolean}} Puzzle
 */

/** Keys in the list of puzzles, and to which place they lead from another. */
const KEYS = /** @type {Record<string, (at: number, width: number) => number>} */ ({
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at, width) => at - width,
  ArrowDown: (at, width) => at + width,
  Home: () => 0,
  End: () => Infinity,
});

export class LessonList {
  /** Whether it is shown, not where the player is. */
  isOpen = false;

  /**
   * @param {State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.ask asks what a command tells, as a fact alone
   */
  constructor(state, { ask }) {
    this.ask = ask;
    /** @type {Lesson[]} */
    this.lessons = [];
    /** @type {Puzzle[]} */
    this.puzzles = [];
    /** The puzzle that Tab leads to, as `data-key`. */
    this.stop = "";
    byId("puzzle-list").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) =>
      this.typed(event),
    );
    state.on("Thud.Lessons", ({ lessons, puzzles }) => {
      const kept = keptDone(state.me.player ?? "");
      const isKept = (/** @type {string} */ kind, /** @type {number} */ number) =>
        kept.includes(`${kind} ${number}`);
      this.lessons = lessons.map((/** @type {Lesson} */ each) => ({
        ...each,
        done: each.done || isKept("lesson", each.number),
      }));
      this.puzzles = puzzles.map((/** @type {Puzzle} */ each) => ({
        ...each,
        solved: each.solved || isKept("puzzle", each.number),
      }));
    });
    state.on("Thud.Exercise", ({ over, left, step, number }) => {
      const kind = step === null ? "puzzle" : "lesson";
      if (over && !left) keepDone(state.me.player ?? "", `${kind} ${number}`);
    });
  }

  open() {
    this.isOpen = true;
    this.ask("lessons");
  }

  close() {
    this.isOpen = false;
  }

  show() {
    const done = this.lessons.filter((each) => each.done).length;
    const solved = this.puzzles.filter((each) => each.solved).length;
    byId("lessons-facts").textContent = this.lessons.length
      ? `${done} of ${counted(this.lessons.length, "lesson")} done · ${solved} of ${counted(this.puzzles.length, "puzzle")} solved`
      : "";
    fill(byId("lesson-list"), ...this.lessons.map(lessonItem));
    fill(byId("puzzle-list"), ...this.puzzles.map(puzzleItem));
    this.setStop(this.stop);
  }

  /** @returns {HTMLElement[]} */
  get links() {
    return [...byId("puzzle-list").querySelectorAll("a")];
  }

  /**
   * Let Tab lead to one of the puzzles, so that the list is a single stop.
   *
   * @param {string} key its `data-key`; the first one if there is none of that key
   */
  setStop(key) {
    const { links } = this;
    const stop = links.find((each) => each.dataset.key === key) ?? links[0];
    for (const each of links) each.tabIndex = each === stop ? 0 : -1;
    this.stop = stop?.dataset.key ?? "";
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    const { links } = this;
    const leads = KEYS[event.key];
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (!leads || at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const width = links.filter((each) => each.offsetTop === links[0].offsetTop).length;
    const next = links[Math.max(0, Math.min(leads(at, width), links.length - 1))];
    this.setStop(next.dataset.key ?? "");
    next.focus();
  }
}

/** @param {Lesson} lesson */
function lessonItem({ number, title, done }) {
  return h(
    "li",
    {},
    h("a", { href: `/lesson/${number}`, "data-key": `lesson ${number}` }, title),
    done && h("span.tick", {}, "done"),
  );
}

/** @param {Puzzle} puzzle */
function puzzleItem({ number, rules, side, tried, solved }) {
  const state = solved ? "solved" : tried ? "tried" : "";
  const label = [`Puzzle ${number}, ${side}s to move`, rules, state].filter(Boolean).join(", ");
  return h(
    "li",
    {},
    h(
      `a${state && `.${state}`}`,
      {
        href: `/puzzle/${number}`,
        title: label,
        "aria-label": `${number}: ${label}`,
        "data-key": `puzzle ${number}`,
      },
      token(side),
      String(number),
    ),
  );
}

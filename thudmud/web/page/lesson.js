/**
 * What a lesson or a puzzle asks for, in words beside the board, and the squares that they name.
 */

import { curly, fill, h, hasFeature, measure } from "./dom.js";

/** What is said above the task, and what only the log says. */
const ABOVE = ["done"];
const UNSAID = ["begun", "task", "next"];
const COMMAND = /"([^"]+)"/;

export class LessonView {
  /**
   * @param {HTMLElement} host
   * @param {(line: string) => void} send sends a command
   */
  constructor(host, send) {
    this.host = host;
    this.send = send;
    /** The squares that are named in what is to be done. @type {Set<string>} */
    this.squares = new Set();
    /** The commands that are, too. @type {string[]} */
    this.commands = [];
    this.shown = "";
    /** What the buttons below the words are called, by their commands. @type {Record<string, string>} */
    this.labels = {};
    /** What was said since a question in the words was pressed; null if none was. @type {string | null} */
    this.heard = null;
    /** The answer to it, once it is known. */
    this.answer = "";
    /** The `Thud.Exercise` beside which it is shown. @type {any} */
    this.answered = null;
    /** @type {any} */
    this.exercise = null;
    /** The words and the buttons, which are seen together with the board. */
    this.asked = h("div.asked");
    measure(this.asked, "--lesson");
  }

  /**
   * Take what the server says: on a phone the log, which has the answer to a question, may be out of
   * sight.
   *
   * @param {string} words
   * @param {boolean} isAll whether the answer ends here
   */
  hear(words, isAll) {
    if (this.heard === null) return;
    this.heard += words;
    if (!isAll) return;
    this.answer = withoutEnd(this.heard, this.exercise?.words ?? []);
    this.heard = null;
    this.shown = "";
    this.answered = this.exercise;
    this.show(this.exercise);
  }

  /**
   * Show what there is to do, or nothing.
   *
   * @param {any} exercise the last `Thud.Exercise`
   */
  show(exercise) {
    const shown = JSON.stringify(exercise);
    if (shown === this.shown) return;
    this.shown = shown;
    this.exercise = exercise;
    if (exercise !== this.answered) this.answer = "";
    this.host.hidden = !exercise;
    const said = exercise ? this.said(exercise) : [];
    const asked = [
      exercise?.task,
      ...said.filter(([key]) => key !== "done").map(([, each]) => each),
    ]
      .filter(Boolean)
      .join(" ");
    this.squares = new Set(exercise?.squares);
    this.commands = asked.split(COMMAND).filter((_, each) => each % 2);
    fill(this.host, ...(exercise ? this.content(exercise, said) : []));
    this.host.closest(".panel")?.scrollTo(0, 0);
  }

  /**
   * Return what is said besides the task.
   *
   * @param {any} exercise
   * @returns {[string, string][]}
   */
  said({ remarks, words, step }) {
    /** @type {[string, string][]} */
    const all = remarks.map((/** @type {string} */ each, /** @type {number} */ at) => [
      each,
      words[at],
    ]);
    const isTwice = (/** @type {string} */ each) => each === "over" && step === null; // what Next does
    return all.filter(([each]) => !UNSAID.includes(each) && !isTwice(each));
  }

  /**
   * @param {any} exercise
   * @param {[string, string][]} said
   */
  content(exercise, said) {
    const { step, task, over, number, in_all } = exercise;
    const isAbove = (/** @type {[string, string]} */ [key]) => ABOVE.includes(key);
    const isLast = over && step !== null && number === in_all;
    const goesOn = !isLast && (step === null || task === null);
    const label = step !== null && over ? "Next lesson" : step === null && task ? "Skip" : "Next";
    this.labels = { ...(goesOn && { next: label }), stop: "Leave" };
    const words = [
      this.answer && h("p.answer", { role: "status" }, curly(this.answer)),
      ...said.filter(isAbove).map(([, words]) => h("p.done", {}, ...this.pressable(words))),
      task && h("p.task", {}, ...this.pressable(task)),
      ...said
        .filter((each) => !isAbove(each))
        // What is said against a try at a puzzle is not for the player to do.
        .map(([key, words]) =>
          h(
            key === "wrong" ? "p.missed" : "p",
            {},
            ...(step === null && key === "wrong" ? [curly(words)] : this.pressable(words)),
          ),
        ),
    ];
    fill(
      this.asked,
      h("div.words", {}, ...words),
      h(
        "div.row",
        {},
        goesOn && this.button(label, "next", !task),
        task && hasFeature("hints") && this.button("Hint", "hint"),
        this.button("Leave", "stop"),
      ),
    );
    return [this.asked, neighbours(exercise, goesOn && over)];
  }

  /**
   * Return words, with buttons for the commands in them.
   *
   * @param {string} words
   */
  pressable(words) {
    const parts = curly(words).split(COMMAND);
    return parts.map((each, at) => {
      if (at % 2 === 0) return each;
      return each in this.labels ? `“${this.labels[each]}”` : this.button(each, each);
    });
  }

  /**
   * @param {string} label
   * @param {string} line
   * @param {boolean} [isFirst]
   */
  button(label, line, isFirst = false) {
    const kind = label === line ? ".command" : isFirst ? ".primary" : "";
    const click = () => {
      this.answer = "";
      this.heard = label === line ? "" : null; // a question in the words
      this.send(line);
    };
    return h(`button${kind}`, { type: "button", "data-key": line, click }, label);
  }
}

/**
 * Return a text without what it ends in, however that is wrapped; nothing if it ends in something
 * else than all of it.
 *
 * @param {string} text
 * @param {string[]} end
 */
function withoutEnd(text, end) {
  const bare = (/** @type {string} */ words) => words.replace(/\s/g, "");
  const last = bare(end.join(""));
  if (!last || !bare(text).endsWith(last)) return text.trim();
  let left = bare(text).length - last.length;
  let at = 0;
  for (; left > 0; at++) if (/\S/.test(text[at])) left--;
  return text.slice(0, at);
}

/**
 * Return links to the lesson or puzzle before, the list of all, and the one after.
 *
 * @param {any} exercise
 * @param {boolean} hasNext whether there is a button that goes to the one after
 */
function neighbours({ step, number, in_all }, hasNext) {
  const kind = step === null ? "puzzle" : "lesson";
  /** @type {(number: number, label: string) => HTMLElement | false} */
  const link = (other, label) =>
    other > 0 &&
    other <= in_all &&
    h("a", { href: `/${kind}/${other}`, "data-key": label }, label);
  return h(
    "nav.row.neighbours",
    { "aria-label": `Other ${kind}s` },
    link(number - 1, `Previous ${kind}`),
    h("a", { href: "/lessons", "data-key": "lessons" }, `All ${kind}s`),
    !hasNext && link(number + 1, `Next ${kind}`),
  );
}

/**
 * Return what a lesson or a puzzle is called.
 *
 * @param {any} exercise
 */
export function exerciseTitle({ step, title, number }) {
  return step === null ? `Puzzle ${number}` : `Lesson ${number}: ${title}`;
}

/**
 * The form of those who have no name yet: it asks what the server asks, and shows what that answers.
 */

import { byId, capitalised, curly } from "./dom.js";
import { ADVICE } from "./register.js";

/** What is said below the field for a name until there is something else to say. */
export const NOTE = byId("login-note").textContent;
/** What is given in place of a name by somebody who wants one made up. */
const GUEST = "guest";
/** What is asked for in place of a name. */
const LABELS = /** @type {Record<string, string>} */ ({ word: "Comeback words", password: "Password" });

export class LoginForm {
  /**
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a line
   * @param {() => boolean} outside.connect returns whether a line can be sent; if not, connects
   * @param {() => void} outside.chosen is told that a name is being typed
   * @param {() => void} outside.comeIn shows the form
   */
  constructor(outside) {
    this.outside = outside;
    /** What was given while there was no connection. */
    this.given = "";
    /** What was asked for last. */
    this.asked = "";
    /** The name that was given last. */
    this.name = "";
    /** Whether a guest has it. */
    this.isTaken = false;
    /** Whether that guest is the player. */
    this.isOwner = false;
    /** The last sentences before the next question. */
    this.answer = "";
    const input = byId("name");
    byId("login").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      this.enter(input.value.trim() || (this.isSecretAsked() ? "" : GUEST));
      if (input.type === "password") input.value = "";
    });
    input.addEventListener("input", outside.chosen);
    byId("other").addEventListener("click", () => {
      outside.send(""); // which gives up
      this.note();
      input.focus();
    });
    byId("mine").addEventListener("click", () => {
      this.isOwner = true;
      this.isTaken = false;
      byId("mine").hidden = true;
      this.send(this.name);
      input.focus();
    });
  }

  /**
   * Say something below the field, by default what is said there at first.
   *
   * @param {string} [words]
   * @param {boolean} [isWrong] whether what was given was refused
   */
  note(words = NOTE, isWrong = false) {
    const host = byId("login-note");
    const name = byId("name");
    name.setAttribute("aria-invalid", String(isWrong));
    host.ariaLive = isWrong && document.activeElement !== name ? "off" : "polite"; // it describes the field
    if (isWrong) name.focus();
    host.classList.toggle("wrong", isWrong);
    words = curly(words.replace(ADVICE, " Try again."));
    if (host.textContent !== words) host.textContent = words; // else it would be read out again
    host.classList.toggle("answer", words !== NOTE);
  }

  /** Whether something other than a name is asked for. */
  isSecretAsked() {
    return this.asked in LABELS;
  }

  /**
   * Give what is asked for, once there is a connection.
   *
   * @param {string} line
   */
  enter(line) {
    if (this.asked === "name") this.name = line;
    this.isOwner = this.isTaken = false;
    if (this.outside.connect()) this.send(line);
    else this.given = line;
  }

  /** Have a name made up. */
  enterAsGuest() {
    if (this.isSecretAsked()) this.outside.send(""); // which gives up
    this.enter(GUEST);
  }

  /** Give what was entered before there was a connection; return whether that was anything. */
  enterGiven() {
    const { given } = this;
    this.given = "";
    if (given) this.send(given);
    return Boolean(given);
  }

  /** @param {string} line */
  send(line) {
    this.answer = "";
    this.outside.send(line);
    byId("login").dataset.sent = "yes"; // from now on, what the server says is an answer
  }

  /** Await no answer any more. */
  forget() {
    delete byId("login").dataset.sent;
  }

  /**
   * Show the answer to what was given: it comes just before the next question. What is told of
   * others begins a new line, unless the line was sent meanwhile.
   *
   * @param {string} text
   * @param {string} words the same, as it is shown
   * @param {boolean} isHidden whether what was given isn't seen, so that the server ends its line
   */
  hear(text, words, isHidden) {
    const isAside = /^\r?\n/.test(text) && !isHidden;
    if (!byId("login").dataset.sent || isAside) return;
    const question = /(^|\n)[^\n]*[?:]$/.exec(words);
    if (this.isTaken && question) {
      this.forget(); // the page says itself that the name is taken
      return;
    }
    this.answer = words.slice(0, question?.index) || this.answer;
    if (!question || !/[.!?]$/.test(this.answer)) return;
    this.forget();
    if (document.body.dataset.view !== "welcome") this.outside.comeIn();
    const isWrong = !/^The name \w+ is registered\./.test(this.answer); // a member has given it
    const answer = this.answer.replaceAll("\n", " ");
    this.note(answer.replace(" To choose another name, just press Enter.", ""), isWrong);
    byId("name").focus();
    byId("name").select(); // what was refused may be mended
  }

  /**
   * Whether the comeback words of a name are asked for that a guest has, who isn't the player.
   *
   * @param {string} asks
   */
  isAskedOfOther(asks) {
    return asks === "word" && this.name !== "" && !this.isOwner;
  }

  /** Give up a name that a guest has. */
  declineTaken() {
    this.isTaken = true;
    this.forget();
    this.outside.send("");
  }

  /**
   * Ask what the server asks.
   *
   * @param {string} asks
   * @param {boolean} hidden whether what is typed isn't to be seen
   * @param {string} enter the button's label when a name is asked for
   */
  ask(asks, hidden, enter) {
    const input = byId("name");
    // Who is quick has typed a name before they are asked for it.
    if (this.asked && asks !== this.asked) input.value = "";
    this.asked = asks;
    byId("name-label").textContent = LABELS[asks] ?? "Your name";
    input.type = hidden ? "password" : "text";
    byId("other").hidden = !this.isSecretAsked();
    byId("enter").textContent = this.isSecretAsked() ? "Log in" : enter;
    this.showTaken();
    input.autocomplete = hidden ? "current-password" : "username";
  }

  /** Show that the name that was given is taken, if it is. */
  showTaken() {
    byId("mine").hidden = !this.isTaken;
    if (!this.isTaken) return;
    const name = capitalised(this.name);
    byId("mine").textContent = `I’m ${name}`;
    this.note(`${name} is taken. Another name?`, true);
    byId("name").select();
  }
}

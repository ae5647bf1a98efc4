/**
 * The form by which a guest registers: it answers what the server asks after `register`.
 */

import { toast } from "./announce.js";
import { open } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { endsInPrompt, plain } from "./log.js";

/** How long a password may be, as the server has it. */
const [SHORTEST, LONGEST] = [8, 128];

/** What the server says after a refusal, to those who type. */
export const ADVICE = / Try again, or just press Enter to stop\.$/;

export class Registration {
  /**
   * @param {import("./state.js").State} state
   * @param {object} outside
   * @param {(line: string) => void} outside.send sends a line that nobody is to see
   */
  constructor(state, { send }) {
    this.state = state;
    this.send = send;
    this.password = "";
    /** What was sent last: nothing while no answer is awaited. @type {"" | "register" | "new_password" | "again"} */
    this.sent = "";
    /** What the server has said since. */
    this.answer = "";
    /** What is done once the guest is registered. */
    this.then = () => {};
    /** How often it has asked for the password: twice means that it refused the first. */
    this.times = 0;
    state.on("Thud.Prompt", ({ asks }) => this.prompted(asks));
  }

  /**
   * Show the form.
   *
   * @param {string} [why] what it leads to
   * @param {() => void} [then] does what the guest was about to do
   */
  open(why = "A registered name is yours alone, and your matches can be rated.", then = () => {}) {
    this.then = then;
    const password = (/** @type {string} */ id, /** @type {string} */ label) => [
      h("label", { for: id }, label),
      h("input", {
        id,
        type: "password",
        autocomplete: "new-password",
        minlength: SHORTEST,
        maxlength: LONGEST,
        required: true,
        "aria-describedby": "register-rule",
      }),
    ];
    const form = h(
      "form.register",
      {},
      h("p", {}, why),
      h("label", { for: "register-name" }, "Name"),
      h("input", {
        id: "register-name",
        autocomplete: "username",
        readonly: true,
        value: this.state.me.player ?? "",
      }),
      ...password("register-password", "Password"),
      ...password("register-again", "Password again"),
      h("p.hint", { id: "register-rule" }, `At least ${SHORTEST} characters.`),
      h("p", { id: "register-note", role: "alert" }),
      h(
        "div.row",
        {},
        h("button", { type: "button", click: () => byId("dialog").close() }, "Cancel"),
        h("button.primary", { type: "submit", id: "register-submit" }, "Register"),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    open(h("h2", { id: "dialog-title" }, "Register"), form);
    byId("register-password").focus();
  }

  submit() {
    if (this.sent) return;
    const password = byId("register-password").value;
    const isSame = password === byId("register-again").value;
    this.note(isSame ? "" : "The two passwords differ.");
    if (!isSame) return;
    this.password = password;
    this.answer = "";
    this.times = 0;
    this.sent = "register";
    this.send("register");
    this.showWaiting();
  }

  /** Let the button say whether an answer is awaited. */
  showWaiting() {
    const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("#register-submit"));
    if (!button) return;
    button.disabled = this.sent !== "";
    button.textContent = this.sent ? "Registering …" : "Register";
  }

  /** @param {string} words */
  note(words) {
    byId("register-note").textContent = words;
  }

  /**
   * Answer a question of the server.
   *
   * @param {string} asks
   */
  prompted(asks) {
    const [expected, next] = /** @type {const} */ ({
      register: ["new_password", "new_password"],
      new_password: ["again", "again"],
    })[this.sent] ?? ["", ""];
    if (!next || asks !== expected) return;
    this.sent = next;
    this.answer = "";
    this.send(this.password);
  }

  /**
   * Whether what the server says is a question that the form answers.
   *
   * @param {string} words
   */
  isAsked(words) {
    return this.sent !== "" && /(: ?|press Enter to stop\.)$/.test(words);
  }

  /**
   * Note what the server says.
   *
   * @param {string} text
   */
  hear(text) {
    if (!this.sent || (this.sent === "register" && /^\r?\n/.test(text))) return; // another's words
    const isAsked = /New password: ?$/.test(text);
    if (isAsked) this.times++;
    if (isAsked && this.times === 1) return; // with advice
    const words = plain(text).replace(/\n?[^\n]*: ?$/, "").replaceAll("\n", " ");
    this.answer ||= words.replace(ADVICE, "");
    if (isAsked) this.send(""); // gives up, so that a command can be typed
    else if (endsInPrompt(text)) this.finish();
  }

  /** Close the form if the name is registered, or else show why not. */
  finish() {
    this.sent = this.password = "";
    this.showWaiting();
    if (this.state.me.member) {
      byId("dialog").close();
      toast(`You’re registered: the name ${this.state.me.player} is yours now.`);
      this.then();
    } else if (byId("dialog").querySelector("#register-note")) {
      this.note(this.answer);
    }
  }

  /** Forget what was begun, as the connection is gone. */
  stop() {
    if (!this.sent) return;
    this.sent = this.password = "";
    this.showWaiting();
    if (byId("dialog").open) this.note("The connection was lost. Please try again.");
  }
}

/**
 * What the page asks before it does something, and the settings.
 */

import { warn } from "./announce.js";
import { byId, capitalised, h } from "./dom.js";
import { notifyHost } from "./notify.js";
import { schemePreview } from "./preview.js";
import { change, keptWord, settings } from "./settings.js";
import { play } from "./sound.js";

/**
 * Ask whether to do something.
 *
 * @param {string} question
 * @param {string} label of the button that does it
 * @param {string} [no] the label of the other
 * @returns {Promise<boolean>}
 */
export function confirmed(question, label, no = "Cancel") {
  return new Promise((resolve) => {
    const dialog = open(
      h("h2", { id: "dialog-title" }, question),
      h(
        "form.row",
        { method: "dialog" },
        h("button", { value: "" }, no),
        h("button.primary", { value: "yes" }, label),
      ),
    );
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/**
 * Copy an address; show it where pages may not copy, or if it is to be shown.
 *
 * @param {string} address
 * @param {string} words what to say of it
 * @param {boolean} [isShown]
 */
export async function share(address, words, isShown = false) {
  const isCopied = await copied(address);
  if (!isCopied || isShown) {
    const field = h("input", { id: "shared", value: address, readonly: true, "aria-label": "Link" });
    open(
      h("h2", { id: "dialog-title" }, words),
      field,
      h(
        "form.row",
        { method: "dialog" },
        h("button.primary", { type: "button", click: copyShared }, isCopied ? "Copied" : "Copy"),
        h("button", { value: "" }, "Close"),
      ),
    );
    /** @type {HTMLInputElement} */ (field).select();
    return;
  }
  warn(`${words} The link is copied.`);
}

/**
 * Copy an address if the browser allows it; return whether it has.
 *
 * @param {string} address
 */
async function copied(address) {
  try {
    await navigator.clipboard.writeText(address); // which only secure pages have
    return true;
  } catch {
    return false;
  }
}

/**
 * Copy the link in the dialog by the older way, which works without HTTPS.
 *
 * @param {Event} event
 */
function copyShared({ target }) {
  /** @type {HTMLInputElement} */ (byId("shared")).select();
  const isCopied = document.execCommand("copy");
  /** @type {HTMLElement} */ (target).textContent = isCopied ? "Copied" : "Press Ctrl+C";
}

/** Close the dialog that shows an address, if it is open. */
export function closeShared() {
  if (document.querySelector("dialog #shared")) byId("dialog").close();
}

/**
 * @param {(line: string) => void} send sends a command
 * @param {{player: string | null, member: boolean}} me
 * @param {{register: () => void, showKeys: () => void}} others open the form for registering, and the
 *   list of keys
 */
export function openSettings(send, me, { register, showKeys }) {
  open(
    h("h2", { id: "dialog-title" }, "Settings"),
    ...(me.player ? [account(me, send, register)] : []),
    ...(me.member ? [notifyHost()] : []),
    choices("theme", "Light or dark", ["auto", "light", "dark"], (theme) => change({ theme })),
    choices(
      "scheme",
      "Colours of the board",
      ["plain", "vivid", "dim", "safe"],
      (scheme) => {
        change({ scheme });
        send(`options colour scheme ${scheme}`);
      },
      schemePreview,
    ),
    h("p.hint", {}, "“Safe” is colour-blind friendly."),
    choices("size", "Size of the board", ["small", "medium", "large"], (size) => change({ size })),
    volume(),
    toggle("capturesAll", "Trolls capture all they can, without asking"),
    toggle("premoves", "Premoves: choose a move during your opponent’s turn"),
    ...(me.player ? readerSwitch(send) : []),
    h("button.keyboard", { type: "button", click: showKeys }, "Keyboard shortcuts (?)"),
    h("form.row", { method: "dialog" }, h("button", { value: "" }, "Close")),
  );
}

/**
 * Return a switch.
 *
 * @param {"capturesAll" | "premoves" | "reader"} name
 * @param {string} label
 * @param {(isOn: boolean) => void} [choose] does more
 */
function toggle(name, label, choose = () => {}) {
  const set = (/** @type {any} */ { target }) => {
    change({ [name]: target.checked });
    choose(target.checked);
  };
  const box = { type: "checkbox", checked: settings[name], change: set };
  return h("label.switch", {}, h("input", box), label);
}

/**
 * Return the switch for boards in words, and what it does.
 *
 * @param {(line: string) => void} send
 */
function readerSwitch(send) {
  const choose = (/** @type {boolean} */ isOn) => send(`options reader ${isOn ? "on" : "auto"}`);
  return [
    toggle("reader", "Screen reader: describe boards in words", choose),
    h("p.hint", {}, "The log then lists all pieces, and says what to type. You can still click."),
  ];
}

/**
 * Return who the player is, and what has them leave.
 *
 * @param {{player: string | null, member: boolean}} me
 * @param {(line: string) => void} send
 * @param {() => void} register
 */
function account({ player, member }, send, register) {
  const word = !member && keptWord()?.word;
  const question = member
    ? "Log out in this browser?"
    : `Log out, and give up the name ${player}? Your comeback words won’t work any more.`;
  const logOut = async () => {
    if (await confirmed(question, "Log out")) send("quit");
  };
  const logOutElsewhere = () => {
    byId("dialog").close();
    send("logout everywhere");
  };
  return h(
    "div.account",
    {},
    h("p", {}, "You are ", h("b", {}, player), "."),
    !member && h("button", { type: "button", click: register }, "Register"),
    h("button", { type: "button", click: logOut }, "Log out"),
    member &&
      h("button", { type: "button", click: logOutElsewhere }, "Log out everywhere else"),
    word && h("p.hint", {}, `Use the comeback words ${word} to log in as ${player} elsewhere.`),
  );
}

/** Return how loud the sounds are, to choose. */
function volume() {
  const set = (/** @type {Event} */ { target }) => {
    change({ volume: Number(/** @type {HTMLInputElement} */ (target).value) / 100 });
    play("move");
  };
  const value = Math.round(settings.volume * 100);
  const range = { type: "range", min: 0, max: 100, step: 10, value, change: set };
  return h("label.volume", {}, "Volume", h("input", range));
}

/**
 * @param {"theme" | "scheme" | "size"} name
 * @param {string} legend
 * @param {string[]} values
 * @param {(value: any) => void} choose
 * @param {(value: string) => Node | null} [preview] shows what a value looks like
 */
function choices(name, legend, values, choose, preview = () => null) {
  return h(
    `fieldset.${name}`,
    {},
    h("legend", {}, legend),
    h(
      "div.choices",
      {},
      ...values.map((value) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name,
            value,
            checked: settings[name] === value,
            autofocus: name === "theme" && settings[name] === value,
            change: () => choose(value),
          }),
          h("span", {}, preview(value), capitalised(value)),
        ),
      ),
    ),
  );
}

/**
 * Return the last row of a form in the dialog, which sends it.
 *
 * @param {string} label
 */
export function sending(label) {
  return h(
    "div.row",
    {},
    h("button", { type: "button", click: () => byId("dialog").close() }, "Cancel"),
    h("button.primary", {}, label),
  );
}

/**
 * Open the dialog; if it is open already, with this instead of what is in it.
 *
 * @param {...Node} content
 */
export function open(...content) {
  const dialog = byId("dialog");
  dialog.returnValue = "";
  dialog.replaceChildren(...content);
  if (dialog.open) dialog.querySelector("button, input")?.focus();
  else dialog.showModal();
  dialog.scrollTop = 0; // not where another one was read
  return dialog;
}

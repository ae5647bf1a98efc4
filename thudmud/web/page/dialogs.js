/**
 * What the page asks before it does something, and the settings.
 */

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
 * @returns {Promise<boolean>}
 */
export function confirmed(question, label) {
  return new Promise((resolve) => {
    const dialog = open(
      h("h2", { id: "dialog-title" }, question),
      h(
        "form.row",
        { method: "dialog" },
        h("button", { value: "" }, "Cancel"),
        h("button.primary", { value: "yes" }, label),
      ),
    );
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/**
 * Copy an address, or show it where pages may not copy.
 *
 * @param {string} address
 * @param {string} words what to say of it
 * @param {{say: (sentence: string) => void, toast: (sentence: string) => void}} outside
 */
export async function share(address, words, { say, toast }) {
  try {
    await navigator.clipboard.writeText(address); // which only secure pages have
  } catch {
    const field = h("input", { id: "shared", value: address, readonly: true, "aria-label": "Link" });
    open(
      h("h2", { id: "dialog-title" }, words),
      field,
      h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
    );
    /** @type {HTMLInputElement} */ (field).select();
    return;
  }
  const told = `${words} The link is copied.`;
  toast(told);
  say(told);
}

/** Close the dialog that shows an address, if it is open. */
export function closeShared() {
  if (document.querySelector("dialog #shared")) byId("dialog").close();
}

/**
 * @param {(line: string) => void} send sends a command
 * @param {{player: string | null, member: boolean}} me
 * @param {() => void} register opens the form for registering
 */
export function openSettings(send, me, register) {
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
    captures(),
    premoveSwitch(),
    h("h3", {}, "Keys on the board"),
    keyList(BOARD_KEYS),
    h("form.row", { method: "dialog" }, h("button.primary", { value: "" }, "Close")),
  );
}

/** Return the switch that turns premoves on and off. */
function premoveSwitch() {
  const toggle = (/** @type {Event} */ { target }) =>
    change({ premoves: /** @type {HTMLInputElement} */ (target).checked });
  const input = h("input", { type: "checkbox", checked: settings.premoves, change: toggle });
  return h("label.switch", {}, input, "Premoves: choose a move during your opponent’s turn");
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
    word && h("p.hint", {}, `Use the comeback words ${word} to be yourself in another browser.`),
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

/** Return whether trolls capture without being asked, to choose. */
function captures() {
  const set = (/** @type {Event} */ { target }) =>
    change({ capturesAll: /** @type {HTMLInputElement} */ (target).checked });
  const box = { type: "checkbox", checked: settings.capturesAll, change: set };
  return h("label.switch", {}, h("input", box), "Trolls capture all at once, without asking");
}

export const BOARD_KEYS = [
  ["arrows", "go from square to square"],
  ["Enter", "pick up a piece, put it down, choose what it captures"],
  ["Esc", "put it back, cancel a premove, or return to the current position"],
  ["t, d, r", "where the trolls, the dwarfs, the Rock stand"],
  ["s, c", "along this row, this column"],
  ["a", "what is around this square"],
  ["m", "what this piece can do"],
  ["x", "what can be captured"],
  ["l", "the last move"],
  ["f", "flip the board"],
  ["/", "to the command line"],
  ["?", "show all keys"],
];

/**
 * Return a list of keys, and what they do.
 *
 * @param {string[][]} keys
 */
export function keyList(keys) {
  const items = keys.flatMap(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]);
  return h("dl.keys", {}, ...items);
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
  return dialog;
}

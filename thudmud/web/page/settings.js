/**
 * What the browser keeps of the player's: how the page looks and sounds, and the resume word.
 */

const SETTINGS = "thud.settings";
const WORD = "thud.word";

/**
 * @typedef {object} Settings
 * @property {"auto" | "dark" | "light"} theme
 * @property {"plain" | "vivid" | "dim" | "safe"} scheme the colours of the board
 * @property {boolean} sound
 * @property {number} volume of sounds, from 0 to 1
 * @property {"small" | "medium" | "large"} size of the board on a wide screen
 * @property {boolean} capturesAll whether a troll captures all that it can without being asked
 * @property {boolean} flipped whether the board is seen from the other side
 * @property {string} orient which side was at the bottom when a command said so last
 * @property {"log" | "chat" | null} talk what is shown beside a board; null for what fits there
 * @property {boolean} reader whether boards are described in words, as the server knows
 * @property {boolean} premoves whether moves can be chosen during the opponent's turn
 * @property {string} speed how fast replays are played back
 * @property {boolean} explores whether what others have played is shown
 * @property {boolean} hasPlayed whether a battle was ever played
 * @property {Record<string, string>} terms those of the last match, by the fields of the form
 */

/** @type {Settings} */
const DEFAULTS = {
  theme: "auto",
  scheme: "plain",
  sound: true,
  volume: 1,
  size: "large",
  capturesAll: false,
  flipped: false,
  orient: "south",
  talk: null,
  reader: false,
  premoves: true,
  speed: "1×",
  explores: false,
  hasPlayed: false,
  terms: {},
};

/** @type {Settings} */
export const settings = { ...DEFAULTS, ...read(SETTINGS) };

/**
 * Change settings, and keep them.
 *
 * @param {Partial<Settings>} changes
 */
export function change(changes) {
  Object.assign(settings, changes);
  write(SETTINGS, settings);
  wear();
}

/** Whether the player has turned the board since they chose, by a command, how it stands. */
export function isTurned() {
  return settings.flipped !== (settings.orient === "north");
}

/** Whether the page looks dark. */
export function isDark() {
  const { theme } = settings;
  return theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

/** Let the page look as the settings say. */
export function wear() {
  document.documentElement.dataset.theme = settings.theme;
  document.documentElement.dataset.scheme = settings.scheme;
  document.documentElement.dataset.size = settings.size;
  for (const meta of document.querySelectorAll("meta[data-look]")) {
    const look = meta.getAttribute("data-look");
    const isWorn = settings.theme === look ? "all" : "not all";
    const media = settings.theme === "auto" ? `(prefers-color-scheme: ${look})` : isWorn;
    meta.setAttribute("media", media);
  }
}

/**
 * Which colours of the page belong to an element of a board; the first is its own, and the others
 * are mixed of it, so much with black or with white.
 *
 * @type {Record<string, [string, ...[string, number, string][]]>}
 */
const ELEMENTS = {
  dwarf: ["dwarf", ["dwarf-dark", 45, "black"]],
  troll: ["troll", ["troll-dark", 35, "black"], ["troll-light", 65, "white"]],
  stone: ["stone", ["stone-dark", 35, "black"], ["stone-light", 65, "white"]],
  rock: ["rock", ["rock-dark", 35, "black"], ["rock-light", 65, "white"]],
  squares: ["square", ["odd", 88, "black"]],
  "last move": ["last"],
  captured: ["fallen"],
  coordinates: ["labels"],
};
const GROUNDS = ["squares", "last move", "captured"]; // what is behind a piece, or instead of it

/**
 * Wear what the player has chosen by a command, here or elsewhere.
 *
 * @param {{scheme: any, orient: string, colours: {element: string, colour: string | null, ground: string | null}[]}} options
 */
export function wearChosen({ scheme, orient, colours }) {
  const isNew = orient !== settings.orient;
  change({ scheme, ...(isNew && { orient, flipped: orient === "north" }) });
  const { style } = document.documentElement;
  for (const [own, ...mixed] of Object.values(ELEMENTS))
    for (const name of [own, ...mixed.map(([each]) => each)]) style.removeProperty(`--${name}`);
  for (const { element, colour, ground } of colours) {
    const value = GROUNDS.includes(element) ? (ground ?? colour) : (colour ?? ground);
    if (!value || !ELEMENTS[element]) continue;
    const [own, ...mixed] = ELEMENTS[element];
    style.setProperty(`--${own}`, value);
    for (const [name, share, other] of mixed)
      style.setProperty(`--${name}`, `color-mix(in srgb, ${value} ${share}%, ${other})`);
  }
}

/**
 * Return the name and the resume word that the player has come in with before.
 *
 * @returns {{player: string, word: string} | null}
 */
export function keptWord() {
  return read(WORD);
}

/** @param {{player: string, word: string} | null} word */
export function keepWord(word) {
  write(WORD, word);
}

const DONE = "thud-done";

/**
 * Return what a player has done, as this browser knows: the server forgets it of guests.
 *
 * @param {string} player
 * @returns {string[]} such as `lesson 3`
 */
export function keptDone(player) {
  const kept = read(DONE);
  return kept?.player === player ? kept.done : [];
}

/**
 * @param {string} player
 * @param {string} exercise such as `lesson 3`
 */
export function keepDone(player, exercise) {
  const done = keptDone(player);
  if (!done.includes(exercise)) write(DONE, { player, done: [...done, exercise] });
}

/**
 * Return what is kept in this browser under a key; null if nothing is.
 *
 * @param {string} key
 * @param {"localStorage" | "sessionStorage"} [storage] the latter lasts as long as the window
 */
export function read(key, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(key) ?? "null");
  } catch {
    return null; // nothing may be kept in this browser
  }
}

/**
 * @param {string} key
 * @param {unknown} value null keeps nothing
 * @param {"localStorage" | "sessionStorage"} [storage]
 */
export function write(key, value, storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // it lasts as long as the page
  }
}

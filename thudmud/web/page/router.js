/**
 * The address of the page: a board, a battle and one of its plies, a tournament, a player, a lesson, a
 * puzzle, the list of these, the tv, a challenge, or the hall.
 */

/**
 * @typedef {{tournament: number} | {player: string} | {lessons: true}} Page
 * @typedef {{board: string} | {battle: number, ply: number | null, explores?: boolean} | Page} Watched what anybody may see
 * @typedef {{lesson: number} | {puzzle: number}} Exercise
 * @typedef {Exercise | {tv: true} | {challenge: string}} Inside what needs a name
 * @typedef {Watched | Inside | null} Place null is the hall
 */

/** Addresses with a number, with a name, and with neither, beside boards and battles. */
const NUMBERED = ["tournament", "lesson", "puzzle"];
const NAMED = ["player", "challenge"];
const SINGLE = ["lessons", "tv"];
const INSIDE = ["lesson", "puzzle", "tv", "challenge"];

/**
 * Return the place that the address names.
 *
 * @returns {Place}
 */
export function placeNamed() {
  const [, kind, name] = location.pathname.split("/");
  if (kind === "board" && name) {
    try {
      return { board: decodeURIComponent(name) };
    } catch {
      return null; // it is no address of ours
    }
  }
  if (SINGLE.includes(kind)) return /** @type {Inside} */ ({ [kind]: true });
  if (NAMED.includes(kind) && name) return /** @type {Place} */ ({ [kind]: name });
  if (!Number(name)) return null;
  if (NUMBERED.includes(kind)) return /** @type {Place} */ ({ [kind]: Number(name) });
  if (kind !== "game") return null;
  const ply = /^#(?:ply=)?(\d+)$/.exec(location.hash);
  const explored = /^#explore=(\d+)$/.exec(location.hash);
  if (explored) return { battle: Number(name), ply: Number(explored[1]), explores: true };
  const end = location.hash === "#end" ? Infinity : null;
  return { battle: Number(name), ply: ply ? Number(ply[1]) : end };
}

/**
 * Whether a place can only be seen by somebody who has a name.
 *
 * @param {Place} place
 * @returns {place is Inside}
 */
export function needsName(place) {
  return place !== null && INSIDE.some((kind) => kind in place);
}

/**
 * Whether the address names a place.
 *
 * @param {Place} place
 */
export function isNamed(place) {
  return pathOf(place) === location.pathname + location.hash;
}

/**
 * Name a place in the address.
 *
 * @param {Place} place
 */
export function namePlace(place) {
  if (isNamed(place)) return;
  const path = pathOf(place);
  const isSame = path.split("#")[0] === location.pathname;
  history[isSame ? "replaceState" : "pushState"](null, "", path);
}

/** @param {Place} place */
function pathOf(place) {
  if (!place) return "/";
  if ("board" in place) return `/board/${encodeURIComponent(place.board)}`;
  if ("battle" in place && place.ply === Infinity) return `/game/${place.battle}#end`;
  if ("battle" in place && place.explores) return `/game/${place.battle}#explore=${place.ply ?? 0}`;
  if ("battle" in place) return `/game/${place.battle}${place.ply ? `#ply=${place.ply}` : ""}`;
  const [[kind, value]] = Object.entries(place);
  return value === true ? `/${kind}` : `/${kind}/${value}`;
}

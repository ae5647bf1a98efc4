/**
 * The address of the page: a board, a battle and one of its plies, a tournament, or the hall.
 */

/** @typedef {{board: string} | {battle: number, ply: number | null, explores?: boolean} | {tournament: number} | null} Place null is the hall */

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
  if (kind === "tournament" && Number(name)) return { tournament: Number(name) };
  if (kind !== "game" || !Number(name)) return null;
  const ply = /^#(?:ply=)?(\d+)$/.exec(location.hash);
  const explored = /^#explore=(\d+)$/.exec(location.hash);
  if (explored) return { battle: Number(name), ply: Number(explored[1]), explores: true };
  const end = location.hash === "#end" ? Infinity : null;
  return { battle: Number(name), ply: ply ? Number(ply[1]) : end };
}

/**
 * Name a place in the address.
 *
 * @param {Place} place
 */
export function namePlace(place) {
  const path = pathOf(place);
  if (path === location.pathname + location.hash) return;
  const isSame = path.split("#")[0] === location.pathname;
  history[isSame ? "replaceState" : "pushState"](null, "", path);
}

/** @param {Place} place */
function pathOf(place) {
  if (!place) return "/";
  if ("tournament" in place) return `/tournament/${place.tournament}`;
  if ("board" in place) return `/board/${encodeURIComponent(place.board)}`;
  if (place.ply === Infinity) return `/game/${place.battle}#end`;
  return `/game/${place.battle}${place.ply ? `#ply=${place.ply}` : ""}`;
}

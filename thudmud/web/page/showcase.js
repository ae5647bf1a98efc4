/**
 * The board on the first screen: a battle under way, or a short one that is played over and over.
 */

import { BoardView } from "./board.js";
import { played, positionOf } from "./position.js";

const OPENING = [
  "     dd.dd     ",
  "    d.....d    ",
  "   d.......d   ",
  "  d.........d  ",
  " d...........d ",
  "d.............d",
  "d.....TTT.....d",
  "......TXT......",
  "d.....TTT.....d",
  "d.............d",
  " d...........d ",
  "  d.........d  ",
  "   d.......d   ",
  "    d.....d    ",
  "     dd.dd     ",
];

/** Origin, target, and what was captured there. */
const PLIES = /** @type {[string, string, ...string[]][]} */ ([
  ["O6", "L6"],
  ["I7", "J6"],
  ["L3", "L5"],
  ["J6", "K5", "L5"],
  ["M4", "L5"],
  ["K5", "K6", "L6", "L5"],
]);
const EVERY = 1600; // milliseconds

/** What the board shows: whether it is a battle under way. @type {{view: BoardView, isLive: boolean} | null} */
let shown = null;

/**
 * Show a battle under way, or play the short one for as long as the board is there.
 *
 * @param {Element} host
 * @param {import("./state.js").Board | null} board
 */
export function showcase(host, board) {
  if (!host.firstChild || !shown || shown.isLive !== (board !== null)) {
    host.replaceChildren();
    const nothing = () => false;
    const view = new BoardView(host, { pick: nothing, lift: nothing, drop: nothing, key: nothing });
    shown = { view, isLive: board !== null };
    if (!board) playOver(view);
  }
  if (board) shown.view.show(board.position, board.last, "");
}

/** @param {BoardView} view */
function playOver(view) {
  let position = positionOf(OPENING);
  let at = 0;
  view.show(position, null, "");
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const timer = setInterval(() => {
    if (!view.element.isConnected) clearInterval(timer);
    if (document.hidden) return;
    if (at === PLIES.length) {
      [position, at] = [positionOf(OPENING), 0];
      view.show(position, null, "");
      return;
    }
    const [from, to, ...captures] = PLIES[at++];
    const piece = /** @type {import("./position.js").Side} */ (position.get(from));
    const ply = { piece, verb: "move", from, to, captures, trample: false };
    position = played(position, ply);
    view.show(position, ply, "");
  }, EVERY);
}

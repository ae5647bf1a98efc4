/**
 * The panel: one board, which can be played on, from the facts that the plugin passes on.
 *
 * The board, how a ply is put together on it, and what the facts mean are those of thudmud's page.
 */

import { BoardView } from "../board.js";
import { byId, capitalised, fill, h, token } from "../dom.js";
import { Mover } from "../mover.js";
import { count } from "../position.js";
import { State, holder } from "../state.js";

/** @typedef {import("../position.js").Side} Side */

/** @param {object} message to the plugin: `{ask}` a question, `{send}` a command, `{}` for all */
const tell = (message) => parent.postMessage(message, location.origin);

const SIDES = /** @type {Side[]} */ (["dwarf", "troll"]);
const state = new State();
let shown = ""; // the name of the board

const mover = new Mover({
  ask: (board, from) => tell({ ask: `moves ${from} on ${board}` }),
  send: (line) => tell({ send: `thud ${line}` }),
  show: (marks) => view.mark(marks),
  whose: () => "You can’t move that now.",
});
const view = new BoardView(byId("board"), {
  pick: (square) =>
    square === mover.landing && mover.fitting() ? mover.confirm() : mover.pick(square),
  lift: (square) => mover.lift(square),
  drop: (square) => mover.drop(square),
  key: () => false,
});

function show() {
  const table = state.tables.get(shown);
  const board = state.boards.get(shown);
  if (!table || !board) return;
  const mine = state.sides(table);
  const below = mine.length === 1 ? mine[0] : "dwarf";
  const isMine = board.turn !== null && mine.includes(board.turn);
  const turn = isMine ? "your turn" : `${board.turn}s to move`;
  const label = `${capitalised(shown)}: ${table.running && board.turn ? turn : "no battle"}`;
  view.show(board.position, board.last, label, board.hint);
  view.element.classList.toggle("mine", state.mover(shown) !== null);
  for (const side of SIDES) {
    const seat = table.seats.find((each) => each.side === side);
    fill(
      byId(side === below ? "below" : "above"),
      token(side),
      h("span.name", {}, holder(seat)),
      table.running && board.turn === side && h("span.badge.turn", {}, "to move"),
      h("span.left", {}, `${count(board.position, side)}`, h("small", {}, " left")),
    );
  }
  byId("status").textContent = label;
  mover.set(board, state.mover(shown));
}

state.on("Thud.Board", ({ board }) => (shown = board));
state.on("Thud.Move", ({ board }) => {
  if (state.sides(state.tables.get(board)).length) shown = board;
});
state.on("Thud.Legal", (legal) => mover.answered(legal));
state.on("Thud.Refused", () => mover.cancel());
state.on("change", show);
addEventListener("message", ({ source, origin, data }) => {
  if (source === parent && origin === location.origin) state.take(data.name, data.data);
});

// The pieces are drawn where the page has them.
const pieces = await (await fetch("../pieces.svg")).text();
document.body.insertAdjacentHTML("afterbegin", pieces);
tell({});

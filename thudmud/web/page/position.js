/**
 * The board and what stands on it: squares by name, positions, plies put on and taken off.
 *
 * No rules are known here; the server says what may be played.
 */

/**
 * @typedef {"dwarf" | "troll"} Side
 * @typedef {Side | "rock" | "stone"} Piece
 * @typedef {ReadonlyMap<string, Piece>} Position what stands on which square
 * @typedef {object} Ply a move as `Thud.Move` has it, see docs/gmcp-reference.md
 * @property {Side | "rock"} piece
 * @property {string} verb
 * @property {string} from
 * @property {string} to
 * @property {string[]} captures
 * @property {boolean} trample
 */

export const SIZE = 15;
export const LETTERS = "ABCDEFGHIJKLMNO";
const CORNER = 5; // squares that each corner of the grid lacks, along its edges
const PIECES = /** @type {Record<string, Piece>} */ ({
  d: "dwarf",
  T: "troll",
  X: "stone",
  R: "rock",
});

/**
 * Return the square in a column and a row, both from 0; null off the board.
 *
 * @param {number} column
 * @param {number} row
 */
export function squareAt(column, row) {
  const end = SIZE - 1;
  const corners = [column + row, column + end - row, end - column + row, 2 * end - column - row];
  const inside = Math.min(column, row, end - column, end - row) >= 0;
  return inside && Math.min(...corners) >= CORNER ? `${LETTERS[column]}${row + 1}` : null;
}

/**
 * Return the column and the row of a square, both from 0.
 *
 * @param {string} square
 */
export function placeOf(square) {
  return { column: LETTERS.indexOf(square[0]), row: Number(square.slice(1)) - 1 };
}

/** The squares, row by row. */
export const ROWS = Array.from({ length: SIZE }, (_, row) =>
  Array.from({ length: SIZE }, (_, column) => squareAt(column, row)).filter(
    (each) => each !== null,
  ),
);

/** @param {number} column from 0 */
export function letterOf(column) {
  return LETTERS[column];
}

/**
 * Return the position that the rows of a `Thud.Board` show.
 *
 * @param {string[]} rows
 * @returns {Position}
 */
export function positionOf(rows) {
  const position = new Map();
  rows.forEach((line, row) => {
    [...line].forEach((letter, column) => {
      const square = squareAt(column, row);
      if (square && PIECES[letter]) position.set(square, PIECES[letter]);
    });
  });
  return position;
}

/**
 * Return a position after a ply.
 *
 * @param {Position} position
 * @param {Ply} ply
 * @returns {Position}
 */
export function played(position, ply) {
  const after = new Map(position);
  for (const square of [ply.from, ...ply.captures]) after.delete(square);
  return after.set(ply.to, ply.piece);
}

/**
 * Return a position before its last ply.
 *
 * @param {Position} position
 * @param {Ply} ply
 * @returns {Position}
 */
export function unplayed(position, ply) {
  const before = new Map(position);
  before.delete(ply.to);
  for (const square of ply.captures) before.set(square, ply.piece === "troll" ? "dwarf" : "troll");
  return before.set(ply.from, ply.piece);
}

/**
 * Return how many of a piece are in a position.
 *
 * @param {Position} position
 * @param {Piece} piece
 */
export function count(position, piece) {
  return [...position.values()].filter((each) => each === piece).length;
}

/**
 * Return a ply in few words, as in a list of moves: `A6–B6`, `G7–G6 ×F6`.
 *
 * @param {Ply} ply
 */
export function shortPly(ply) {
  const captured = ply.captures.length ? ` ×${ply.captures.join(" ")}` : "";
  return `${ply.from}–${ply.to}${captured}`;
}

/**
 * Return the moves of a line in few words, none broken at its dash.
 *
 * @param {string[]} moves as `shortPly` and `shortRecord` have them
 */
export function lineWords([first, ...rest]) {
  const words = rest.length ? `${first}, then ${rest.join(", ")}` : first;
  return words.replaceAll("–", "–\u2060");
}

/**
 * Return a ply of a record in the same words. Records skip the letter I: their J is our I.
 *
 * @param {string} record such as `TJ7-J6xH5`
 */
export function shortRecord(record) {
  const [ply, ...captured] = record
    .slice(1)
    .replace(/[J-P](?=\d)/g, (letter) => LETTERS["JKLMNOP".indexOf(letter) + 8])
    .split("x");
  return ply.replace("-", "–") + (captured.length ? ` ×${captured.join(" ")}` : "");
}

/**
 * Return a ply in the notation of records, which skips the letter I: `TJ7-J6xH5` for our I7 to I6.
 *
 * @param {Ply} ply
 */
export function recordPly({ piece, from, to, captures }) {
  const mark = { dwarf: "d", troll: "T", rock: "R" }[piece];
  const square = (/** @type {string} */ each) =>
    "ABCDEFGHJKLMNOP"[LETTERS.indexOf(each[0])] + each.slice(1);
  return `${mark}${square(from)}-${square(to)}${captures.map((each) => `x${square(each)}`).join("")}`;
}

/**
 * Return a ply as a sentence, for those who hear the page.
 *
 * @param {Ply} ply
 */
export function spokenPly(ply) {
  const captured = ply.captures.length ? `, capturing ${ply.captures.join(", ")}` : "";
  return `${ply.piece} ${ply.from} to ${ply.to}${captured}`;
}

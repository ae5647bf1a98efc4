/**
 * Game records: a battle as a text, in the notation that Thud programs exchange. No ply is judged.
 */

import { LETTERS } from "./position.js";

/** @typedef {import("./position.js").Position} Position */
/** @typedef {import("./position.js").Piece} Piece */
/** @typedef {import("./position.js").Ply} Ply */

/**
 * @typedef {object} Told a battle, and what its record tells besides
 * @property {Map<string, string>} headers
 * @property {Position} opening
 * @property {(Ply & {ply: number, record: string, spent: number | null})[]} plies
 * @property {{ply: number, player: string, text: string}[]} comments
 */

const RECORD_LETTERS = "ABCDEFGHJKLMNOP"; // they skip the I
const HEADER = /^\[\s*([A-Za-z]\w*)\s+"((?:[^"\\]|\\.)*)"\s*\]$/;
const PIECE = /^([dTR]) ?([A-HJ-P])(\d{1,2})$/;
const PLY = /^([dTR]) ?([A-HJ-P]\d{1,2})-([A-HJ-P]\d{1,2})((?:x[A-HJ-P]\d{1,2})*)$/;
const TIME = /^; time (?:(\d+):)?(\d+):(\d+\.\d)$/;
const COMMENT = /^;\s*(?:([^\s:]*):\s+)?(.*)$/;
const LONGEST = 1_000_000; // characters; a thousand plies have some ten thousand

/**
 * Return what a record tells; an Error says which line of it cannot be read.
 *
 * @param {string} text
 * @returns {Told}
 */
export function readRecord(text) {
  if (text.length > LONGEST) throw new Error("it is longer than a record is");
  const headers = new Map();
  /** @type {Told["plies"]} */
  const plies = [];
  /** @type {Told["comments"]} */
  const comments = [];
  /** @type {Map<string, Piece> | null} */
  let opening = null;
  /** @type {Map<string, Piece>} */
  let standing = new Map();
  text.split(/\r?\n/).forEach((whole, at) => {
    const line = whole.trim();
    const header = HEADER.exec(line);
    const time = TIME.exec(line);
    const comment = COMMENT.exec(line);
    try {
      if (!line) return;
      if (header && !opening) headers.set(header[1], header[2].replace(/\\(.)/g, "$1"));
      else if (time && plies.length) plies[plies.length - 1].spent = seconds(time);
      else if (comment)
        comments.push({ ply: plies.length, player: comment[1] ?? "", text: comment[2] });
      else if (!opening) {
        opening = setup(line, headers.get("Rules") === "koom valley" ? "rock" : "stone");
        standing = new Map(opening);
      } else plies.push({ ...played(line, standing), ply: plies.length + 1 });
    } catch (error) {
      throw new Error(`line ${at + 1}: ${/** @type {Error} */ (error).message}`);
    }
  });
  if (!opening) throw new Error("it has no setup");
  return { headers, opening, plies, comments };
}

/** @param {RegExpExecArray} time */
function seconds([, hours, minutes, rest]) {
  return 3600 * Number(hours ?? 0) + 60 * Number(minutes) + Number(rest);
}

/** @param {string} square as records name it */
function ours(square) {
  return LETTERS[RECORD_LETTERS.indexOf(square[0])] + square.slice(1);
}

/**
 * @param {string} line
 * @param {Piece} centrepiece what R stands for
 */
function setup(line, centrepiece) {
  const pieces = /** @type {Record<string, Piece>} */ ({ d: "dwarf", T: "troll", R: centrepiece });
  const opening = new Map();
  for (const each of line.split(",")) {
    const found = PIECE.exec(each.trim());
    if (!found) throw new Error("this is no setup");
    opening.set(ours(found[2] + found[3]), pieces[found[1]]);
  }
  return opening;
}

/**
 * Return a ply, and play it.
 *
 * @param {string} line
 * @param {Map<string, Piece>} standing
 */
function played(line, standing) {
  const found = PLY.exec(line);
  if (!found) throw new Error("this is no ply");
  const [from, to] = [ours(found[2]), ours(found[3])];
  const captures = found[4].split("x").slice(1).map(ours);
  const piece = standing.get(from);
  const letter = piece === "dwarf" ? "d" : piece === "troll" ? "T" : "R";
  if (!piece || letter !== found[1]) throw new Error("there is no such piece");
  const preys = captures.map((each) => standing.get(each));
  if (preys.some((each) => each !== (piece === "troll" ? "dwarf" : "troll")))
    throw new Error("there is nothing to capture");
  for (const square of [from, ...captures]) standing.delete(square);
  if (standing.has(to)) throw new Error("something stands where it goes");
  standing.set(to, piece);
  const known = { verb: "move", trample: false, record: line, spent: null };
  return { ...known, piece: /** @type {Ply["piece"]} */ (piece), from, to, captures };
}

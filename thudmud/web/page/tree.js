/**
 * A battle with its variations: a tree of positions. Its main line is the battle as it was played.
 */

import { played, recordPly } from "./position.js";

/** @typedef {import("./position.js").Side} Side */
/** @typedef {import("./position.js").Ply} Ply */
/** @typedef {import("./position.js").Position} Position */
/** @typedef {import("./mover.js").Way} Way */

/** A position in the tree, and the move that leads to it. */
export class TreeNode {
  /**
   * @param {TreeNode | null} parent
   * @param {Ply | null} move null for the opening
   * @param {Position} position
   * @param {boolean} isMain whether the battle itself got there
   */
  constructor(parent, move, position, isMain) {
    this.parent = parent;
    this.move = move;
    this.position = position;
    this.isMain = isMain;
    this.ply = parent ? parent.ply + 1 : 0;
    this.record = move ? recordPly(move) : "";
    /** The first one continues its line; the others begin variations. @type {TreeNode[]} */
    this.children = [];
    /** What the server says of the position; null before. @type {any} */
    this.known = null;
    /** The `Thud.Evaluation`; null before. @type {any} */
    this.evaluation = null;
  }

  /** How many moves of the battle itself come first. @returns {number} */
  get branch() {
    return this.isMain || !this.parent ? this.ply : this.parent.branch;
  }

  /** The moves after these, in record notation. @returns {string[]} */
  get line() {
    return this.isMain || !this.parent ? [] : [...this.parent.line, this.record];
  }
}

export class Tree {
  /**
   * @param {Position} opening
   * @param {Ply[]} plies
   */
  constructor(opening, plies) {
    this.root = new TreeNode(null, null, opening, true);
    this.current = this.root;
    let last = this.root;
    for (const ply of plies) {
      const next = new TreeNode(last, ply, played(last.position, ply), true);
      last.children.push(next);
      last = next;
    }
  }

  /** The line of the current position: all positions that lead to it, and how it goes on. */
  get line() {
    const nodes = [];
    let node = /** @type {TreeNode | null} */ (this.current);
    for (; node; node = node.parent) nodes.unshift(node);
    for (let [next] = this.current.children; next; [next] = next.children) nodes.push(next);
    return nodes;
  }

  /** The number of moves in the line of the current position. */
  get last() {
    return this.line.length - 1;
  }

  /** @param {number} ply in the line of the current position */
  step(ply) {
    const { line } = this;
    this.current = line[Math.max(0, Math.min(ply, line.length - 1))];
  }

  /** @param {number} ply of the battle itself */
  goToMain(ply) {
    let node = this.root;
    for (let next; node.ply < ply; node = next) {
      next = node.children.find((each) => each.isMain);
      if (!next) break;
    }
    this.current = node;
  }

  /**
   * Play a move from the current position, as a variation unless it is in the tree already.
   *
   * @param {Ply} move
   */
  play(move) {
    const { current } = this;
    const known = current.children.find((each) => isSame(each.record, recordPly(move)));
    const next = known ?? new TreeNode(current, move, played(current.position, move), false);
    if (!known) current.children.push(next);
    this.current = next;
  }

  /** Delete the move that led to the current position, and all after it; not one of the battle. */
  prune() {
    const { parent, isMain } = this.current;
    if (isMain || !parent) return;
    parent.children = parent.children.filter((each) => each !== this.current);
    this.current = parent;
  }

  /** The variations: how many moves of the battle come first, and the moves since, up to each last one. */
  get variations() {
    /** @type {[number, Ply[]][]} */
    const lines = [];
    const visit = (/** @type {TreeNode} */ node, /** @type {Ply[]} */ moves) => {
      if (moves.length && !node.children.length) lines.push([node.branch, moves]);
      for (const each of node.children)
        visit(each, each.isMain ? [] : [...moves, /** @type {Ply} */ (each.move)]);
    };
    visit(this.root, []);
    return lines;
  }

  /** @param {[number, Ply[]][]} lines variations to be played again */
  restore(lines) {
    for (const [branch, moves] of lines) {
      this.goToMain(branch);
      for (const move of moves) this.play(move);
    }
  }

  /** Delete all variations. */
  clear() {
    this.goToMain(this.current.branch);
    for (let node = /** @type {TreeNode | undefined} */ (this.root); node; [node] = node.children)
      node.children = node.children.filter((each) => each.isMain);
  }

  /**
   * Return the position that a fact is about.
   *
   * @param {{branch: number, line: string[]}} fact
   * @returns {TreeNode | null}
   */
  find({ branch, line }) {
    let node = /** @type {TreeNode | undefined} */ (this.root);
    for (let ply = 0; ply < branch; ply++) node = node?.children.find((each) => each.isMain);
    for (const record of line) node = node?.children.find((each) => isSame(each.record, record));
    return node ?? null;
  }
}

/**
 * Whether two records are of the same move: what it captures may be in any order.
 *
 * @param {string} one
 * @param {string} other
 */
function isSame(one, other) {
  const sorted = (/** @type {string} */ record) => {
    const [move, ...captures] = record.split("x");
    return [move, ...captures.sort()].join();
  };
  return sorted(one) === sorted(other);
}

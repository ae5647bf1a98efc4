/**
 * The moves of a battle with its variations, as a list to step through.
 */

import { fill, h } from "./dom.js";
import { plyLabel, revealCurrent, revealWhenResized } from "./moves.js";
import { shortPly } from "./position.js";

/** @typedef {import("./tree.js").TreeNode} Node */
/** @typedef {import("./tree.js").Tree} Tree */

export class TreeList {
  /**
   * @param {HTMLElement} host
   * @param {object} outside
   * @param {(node: Node) => void} outside.go shows a position
   * @param {(ply: number) => void} outside.step shows a position of the current line
   * @param {() => void} outside.prune deletes the current move and those after it
   */
  constructor(host, outside) {
    this.host = host;
    this.outside = outside;
    /** @type {Tree | null} */
    this.tree = null;
    /** @type {Map<number, string>} */
    this.marks = new Map();
    host.addEventListener("keydown", (event) => this.typed(event));
    revealWhenResized(host);
  }

  /**
   * @param {Tree} tree
   * @param {Map<number, string>} marks of the moves of the battle itself
   */
  show(tree, marks) {
    [this.tree, this.marks] = [tree, marks];
    fill(this.host, ...this.rows(tree.root));
    const current = this.host.querySelector("[aria-current]");
    (current ?? this.host.querySelector(".ply"))?.setAttribute("tabindex", "0");
    revealCurrent(this.host);
  }

  /**
   * Return the moves after a position of the main line: a row for each turn, dwarfs and trolls, with
   * the variations beneath the move that they replace.
   *
   * @param {Node} root
   * @returns {HTMLElement[]}
   */
  rows(root) {
    const rows = [];
    /** @type {HTMLElement | null} */
    let row = null;
    for (let node = root; node.children.length; [node] = node.children) {
      const [next, ...variations] = node.children;
      const isFirst = next.ply % 2 === 1;
      if (isFirst || !row) {
        row = h("li", { "data-turn": turnOf(next) }, !isFirst && h("span", { "aria-hidden": "true" }, "…"));
        rows.push(row);
      }
      row.append(this.button(next));
      rows.push(...variations.map((each) => this.variation(each)));
      if (variations.length) row = null;
    }
    return rows;
  }

  /**
   * Return a variation, in lines, with its own variations between its moves.
   *
   * @param {Node} first its first move
   */
  variation(first) {
    const items = [];
    let isNumbered = true;
    for (let node = first, /** @type {Node[]} */ others = []; node; [node, ...others] = node.children) {
      const isOdd = node.ply % 2 === 1;
      const number = isOdd || isNumbered ? turnOf(node) + (isOdd ? "" : " …") : "";
      items.push(h("li", { "data-turn": number }, this.button(node)), ...others.map((each) => this.variation(each)));
      isNumbered = others.length > 0;
    }
    const label = `Variation at move ${first.ply}`;
    return h("li.variation", {}, h("ol", { "aria-label": label }, ...items));
  }

  /** @param {Node} node */
  button(node) {
    const move = /** @type {import("./position.js").Ply} */ (node.move);
    const mark = (node.isMain && this.marks.get(node.ply)) || "";
    const isCurrent = node === this.tree?.current;
    const label = plyLabel(move, node.ply, { mark });
    return h(
      `button.ply.${move.piece}`,
      {
        type: "button",
        "data-key": `node-${node.branch}-${node.line.join()}`,
        tabindex: -1,
        "aria-current": isCurrent && "step",
        "aria-label": label + (node.isMain ? "" : ", variation"),
        click: () => this.outside.go(node),
      },
      shortPly(move),
      mark && h("b", {}, mark),
    );
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    const { tree } = this;
    if (!tree || event.ctrlKey || event.altKey || event.metaKey) return;
    const { key } = event;
    const { ply, parent } = tree.current;
    const siblings = parent?.children ?? [];
    const beside = siblings.indexOf(tree.current) + (key === "ArrowUp" ? -1 : 1);
    if (key === "ArrowLeft") this.outside.step(ply - 1);
    else if (key === "ArrowRight") this.outside.step(ply + 1);
    else if (key === "Home") this.outside.step(0);
    else if (key === "End") this.outside.step(tree.last);
    else if (key === "Delete") this.outside.prune();
    else if (!["ArrowUp", "ArrowDown"].includes(key)) return;
    else if (siblings[beside]) this.outside.go(siblings[beside]);
    event.preventDefault();
    event.stopPropagation(); // outside of the list, the arrows step through the moves, too
    const current = this.host.querySelector("[tabindex='0']");
    if (current instanceof HTMLElement) current.focus();
  }
}

/** @param {Node} node */
function turnOf({ ply }) {
  return `${Math.ceil(ply / 2)}.`;
}

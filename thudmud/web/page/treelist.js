/**
 * The moves of a battle with its variations, as a list to step through.
 */

import { fill, h } from "./dom.js";
import { plyLabel } from "./moves.js";
import { shortPly } from "./position.js";

/** @typedef {import("./tree.js").Node} Node */
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
  }

  /**
   * @param {Tree} tree
   * @param {Map<number, string>} marks of the moves of the battle itself
   */
  show(tree, marks) {
    [this.tree, this.marks] = [tree, marks];
    fill(this.host, ...this.items(tree.root, true));
    const current = this.host.querySelector("[aria-current]");
    (current ?? this.host.querySelector(".ply"))?.setAttribute("tabindex", "0");
    if (!(current instanceof HTMLElement)) return;
    const top = current.offsetTop - this.host.offsetTop;
    const { scrollTop, clientHeight } = this.host;
    if (top < scrollTop || top + current.offsetHeight > scrollTop + clientHeight)
      this.host.scrollTop = top - clientHeight / 2;
  }

  /**
   * Return the moves after a position: those of its line, with the variations between them.
   *
   * @param {Node} first
   * @param {boolean} isNumbered whether the next move has its number before it
   * @returns {HTMLElement[]}
   */
  items(first, isNumbered) {
    const items = [];
    let isFirst = isNumbered;
    for (let node = first; node.children.length; [node] = node.children) {
      const [next, ...variations] = node.children;
      items.push(this.item(next, isFirst));
      isFirst = variations.length > 0;
      items.push(...variations.map((each) => this.variation(each)));
    }
    return items;
  }

  /** @param {Node} node its first move */
  variation(node) {
    const label = `Variation at move ${node.ply}`;
    return h(
      "li.variation",
      {},
      h("ol", { "aria-label": label }, this.item(node, true), ...this.items(node, false)),
    );
  }

  /**
   * @param {Node} node
   * @param {boolean} isNumbered
   */
  item(node, isNumbered) {
    const move = /** @type {import("./position.js").Ply} */ (node.move);
    const turn = Math.ceil(node.ply / 2);
    const isOdd = node.ply % 2 === 1;
    const number = isOdd ? `${turn}.` : isNumbered ? `${turn}. …` : "";
    const mark = (node.isMain && this.marks.get(node.ply)) || "";
    const isCurrent = node === this.tree?.current;
    const label = plyLabel(move, node.ply, { mark });
    return h(
      "li",
      { "data-turn": number },
      h(
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
      ),
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

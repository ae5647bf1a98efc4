/**
 * A small picture of the colours of a board, for those who choose a scheme.
 */

import { svg } from "./dom.js";

/** The colours of which the picture is made, as in schemes.css. */
const COLOURS = [
  "square",
  "odd",
  ...["dwarf", "dwarf-dark", "beard", "skin"],
  ...["troll", "troll-light", "troll-dark", "glow"],
  ...["stone", "stone-light", "stone-dark"],
];
const PIECES = ["dwarf", "stone", "troll"];

/**
 * Return a picture of some pieces in the colours of a scheme.
 *
 * @param {string} scheme
 */
export function schemePreview(scheme) {
  const picture = svg(
    "svg",
    { class: "preview", viewBox: `0 0 ${PIECES.length} 1`, "aria-hidden": "true" },
    ...PIECES.flatMap((piece, at) => [
      svg("rect", { class: at % 2 ? "odd" : null, x: at, width: 1, height: 1 }),
      svg("use", { href: `#${piece}`, x: at, width: 1, height: 1 }),
    ]),
  );
  for (const [name, colour] of coloursOf(scheme)) picture.style.setProperty(name, colour);
  return picture;
}

/**
 * Return the colours of a scheme by the names of their properties: what the page would have if it
 * wore the scheme, without colours of the player's own.
 *
 * @param {string} scheme
 */
function coloursOf(scheme) {
  const { dataset, style } = document.documentElement;
  const [worn, own] = [dataset.scheme, style.cssText];
  dataset.scheme = scheme;
  style.cssText = "";
  const computed = getComputedStyle(document.documentElement);
  const colours = COLOURS.map((name) => [`--${name}`, computed.getPropertyValue(`--${name}`)]);
  dataset.scheme = worn;
  style.cssText = own;
  return colours;
}

/**
 * Elements of the page, made and found in few words.
 */

const SVG = "http://www.w3.org/2000/svg";
const TENTHS = 20; // seconds of a clock below which it shows tenths

/**
 * @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Attributes
 * @typedef {Node | string | null | undefined | false} Child
 */

/**
 * Make an element. An attribute that is false or null is left out; one that is a function listens.
 *
 * @param {string} name as `button.small`, with its classes
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return /** @type {HTMLElement} */ (filled(element, attributes, children));
}

/**
 * Make an element of SVG.
 *
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  return /** @type {SVGElement} */ (
    filled(document.createElementNS(SVG, name), attributes, children)
  );
}

/**
 * @param {any} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[`on${name}`] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...present(children));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return /** @type {(Node | string)[]} */ (children.filter((each) => each || each === ""));
}

/**
 * Return the element of the page that has an id.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Whether this server has a feature that it may leave out.
 *
 * @param {string} name
 */
export function hasFeature(name) {
  return document.documentElement.dataset.features?.split(" ").includes(name) ?? false;
}

/**
 * Set what is in an element. What is the same stays, so that the focus stays on it, and a live
 * region says only what has changed.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  const focused = root.activeElement;
  const key = focused && element.contains(focused) && focused.getAttribute("data-key");
  patch(element, present(children), focused);
  if (!key || focused.isConnected) return;
  const again = element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (again instanceof HTMLElement) again.focus(); // it is in another place now
}

/**
 * @param {Element} host
 * @param {Iterable<Node | string>} wanted
 * @param {Element | null} focused never goes for the sake of what comes after it
 */
function patch(host, wanted, focused) {
  let old = host.firstChild;
  const drop = (/** @type {Node | null} */ end) => {
    while (old !== end) {
      const gone = old;
      old = old.nextSibling;
      gone.remove();
    }
  };
  for (const child of wanted) {
    const each = typeof child === "string" ? new Text(child) : child;
    let same = old;
    while (same && !isSame(same, each)) same = same.contains(focused) ? null : same.nextSibling;
    if (same) {
      drop(same);
      old = same.nextSibling;
      update(same, each, focused);
    } else host.insertBefore(each, old);
  }
  drop(null);
}

/** Elements that keep what somebody has put in. */
const FORMS = "input, select, textarea, option, form";

/**
 * @param {any} one
 * @param {any} other
 */
function isSame(one, other) {
  return one.nodeName === other.nodeName && keyOf(one) === keyOf(other) && !one.matches?.(FORMS);
}

/** @param {any} node */
function keyOf(node) {
  return node.dataset?.key ?? (node.matches?.("a, button") && node.textContent);
}

/**
 * @param {any} old
 * @param {any} wanted the same, as it is to be
 * @param {Element | null} focused
 */
function update(old, wanted, focused) {
  if (old === wanted) return;
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== wanted.data) old.data = wanted.data;
    return;
  }
  for (const { name } of [...old.attributes])
    if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const event of ["onclick", "onchange"]) old[event] = wanted[event];
  if (old.disabled) old.blur(); // else the focus would be lost only later
  patch(old, [...wanted.childNodes], focused);
}

/**
 * Give a view its title: the first heading, for those who hear the page, and what is seen of it.
 *
 * @param {string} view
 * @param {string} title
 */
export function entitle(view, title) {
  for (const part of ["title", "name"]) byId(`${view}-${part}`).textContent = title;
}

/**
 * Return a small picture of a piece, which says nothing to a screen reader.
 *
 * @param {string} piece
 * @returns {SVGElement}
 */
export function token(piece) {
  return svg(
    "svg",
    { viewBox: "0 0 1 1", class: "token", "aria-hidden": "true" },
    svg("use", { href: `#${piece}`, width: 1, height: 1 }),
  );
}

/**
 * Return a number of things in words.
 *
 * @param {number} number
 * @param {string} noun
 * @param {string} [plural]
 */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number} ${number === 1 ? noun : plural}`;
}

/**
 * Return a length of time as a clock shows it.
 *
 * @param {number} seconds
 */
export function clockText(seconds) {
  const left = Math.ceil(seconds);
  const [days, hours] = [Math.floor(left / 86400), Math.floor((left % 86400) / 3600)];
  if (days) return `${days} d ${hours} h`;
  const two = (/** @type {number} */ each) => String(each).padStart(2, "0");
  const minutes = `${two(Math.floor((left % 3600) / 60))}:${two(left % 60)}`;
  return hours ? `${hours}:${minutes}` : minutes;
}

/**
 * Return the time left of a player, with tenths of seconds where these matter.
 *
 * @param {number} seconds
 */
export function timeLeftText(seconds) {
  if (seconds >= TENTHS) return clockText(seconds);
  return `00:${(Math.floor(seconds * 10) / 10).toFixed(1).padStart(4, "0")}`;
}

/**
 * Return facts with dots between them.
 *
 * @template T
 * @param {T[]} facts
 */
export function dotted(facts) {
  return facts.flatMap((each, index) => (index ? [" · ", each] : [each]));
}

/**
 * Return the name of a player, linked to their page.
 *
 * @param {string} name
 */
export function playerLink(name) {
  return h("a.player", { href: `/player/${encodeURIComponent(name)}` }, name);
}

/**
 * Return words of the server with the page's apostrophes.
 *
 * @param {string} words
 */
export function curly(words) {
  return words.replaceAll("'", "’");
}

/** @param {string} words */
export function capitalised(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Return what a ruleset is called at the beginning of a line.
 *
 * @param {string} rules
 */
export function rulesTitle(rules) {
  return rules === "koom valley" ? "Koom Valley" : capitalised(rules);
}

/** What one does on this screen to choose something: "Click", or "Tap" with a finger. */
export const CLICK = matchMedia("(pointer: coarse)").matches ? "Tap" : "Click";

/** Whether there are keys such as Esc, as far as is known. */
export const HAS_KEYS = !matchMedia("(hover: none)").matches;

/**
 * Tell the style sheets how high an element is, which the board has to leave room for.
 *
 * @param {HTMLElement} element
 * @param {string} name of the custom property
 */
export function measure(element, name) {
  const tell = () => document.body.style.setProperty(name, `${element.offsetHeight}px`);
  new ResizeObserver(tell).observe(element);
}

/**
 * Leave out the last sentences of an element that has no room for them.
 *
 * @param {HTMLElement} host
 */
export function shorten(host) {
  for (let last = ""; host.scrollHeight > host.clientHeight + 1 && host.textContent !== last; ) {
    last = host.textContent ?? "";
    host.textContent = last.replace(/([.!?]) [^.!?]*[.!?]*$/, "$1");
  }
}

const CONTROLS = ".cells, button:not(.ply), a, input, select, summary";

/** What isn't covered, if possible: all that is pressed and read, or less of it, or the least. */
const KEPT = [
  `${CONTROLS}, .ply, .strip > *, .panel p`,
  `${CONTROLS}, .clock, .board-host + .strip > *`,
  `main :is(${CONTROLS}), .clock, .board-host + .strip > *`, // rather the header
  ".cells, .clock",
];

/**
 * Put what is shown for a while where it covers as little as possible of a game, near its place by
 * the style.
 *
 * @param {HTMLElement} host at a fixed place
 */
export function keepClear(host) {
  host.style.inset = "";
  if (!["game", "replay"].includes(document.body.dataset.view ?? "")) return;
  const { offsetTop, offsetLeft, offsetWidth } = host; // moving or not
  const offsetHeight = host.offsetHeight + 1; // which was rounded
  for (const kept of KEPT) {
    const boxes = [...document.querySelectorAll(kept)]
      .filter((each) => each.checkVisibility())
      .map((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        const edge = each.closest(".panel")?.getBoundingClientRect().bottom ?? bottom;
        return { left, right, top, bottom: Math.min(bottom, edge) };
      })
      .filter(({ left, right }) => left < offsetLeft + offsetWidth && right > offsetLeft);
    const isFree = (/** @type {number} */ y) =>
      y >= 0 &&
      y + offsetHeight <= innerHeight &&
      boxes.every(({ top, bottom }) => top >= bottom || top >= y + offsetHeight || bottom <= y);
    const places = boxes.flatMap(({ top, bottom }) => [top - offsetHeight, bottom]);
    const far = (/** @type {number} */ y) => Math.abs(y - offsetTop);
    const [place] = [offsetTop, ...places].filter(isFree).sort((a, b) => far(a) - far(b));
    if (place === undefined) continue;
    if (place !== offsetTop) host.style.inset = `${place}px ${innerWidth - offsetLeft - offsetWidth}px auto ${offsetLeft}px`;
    return;
  }
}

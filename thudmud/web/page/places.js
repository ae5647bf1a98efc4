/**
 * The places at the top of the page: the hall, the boards where the player has something to do, and
 * what else is open.
 */

import { byId, capitalised, counted, fill, h } from "./dom.js";
import { exerciseTitle } from "./lesson.js";
import { titleOf } from "./state.js";

/** @typedef {import("./state.js").State} State */

export class Places {
  /**
   * @param {State} state
   * @param {object} outside
   * @param {(room: string | null) => void} outside.visit goes to a board, or to the hall for null
   * @param {() => string | null} outside.inView returns the board in view
   * @param {() => string | null} outside.lookedAt returns the observed board in view
   * @param {() => string | null} outside.page returns the name of the page that is open; null for none
   */
  constructor(state, outside) {
    this.state = state;
    this.outside = outside;
    /** The place that was scrolled to last. */
    this.scrolledTo = "";
    const host = byId("places");
    new ResizeObserver(() => this.scroll(true)).observe(host);
    host.addEventListener("scroll", () => host.classList.toggle("scrolled", host.scrollLeft > 4));
  }

  /** Show a player's places. */
  show() {
    const { state } = this;
    const seats = [...state.tables.values()]
      .filter((each) => state.sides(each).length)
      .map((each) => each.board)
      .sort(); // the same after a reconnection
    const boards = new Set([...seats, ...(state.place ? [state.place] : [])]);
    const others = state.observed.filter((each) => !boards.has(each));
    const titles = [...boards].map((each) => this.title(each));
    const page = this.outside.page();
    const places = [
      this.place("Hall", null),
      ...[...boards].map((each, at) => {
        const isOnly = titles.filter((title) => title === titles[at]).length === 1;
        return this.place(isOnly ? titles[at] : `${titles[at]}, ${each.replace(/ board$/, "")}`, each);
      }),
      ...others.map((each) =>
        this.place(`${each === state.tv.board ? "TV: " : ""}${this.title(each)}`, each),
      ),
      page !== null && h("button.place", { type: "button", "aria-current": "page" }, page),
    ].filter(Boolean);
    fill(byId("places"), ...places, places.length > 2 && this.nextCall(seats));
    this.scroll();
  }

  /**
   * @param {string} label
   * @param {string | null} room
   */
  place(label, room) {
    const { state, outside } = this;
    const isHere = (outside.lookedAt() ?? state.place) === room;
    const calls = room !== null && state.mover(room) !== null;
    const isObserved = this.isObserved(room);
    return h(
      `button.place${calls ? ".calls" : ""}`,
      {
        type: "button",
        "data-key": `place-${room}`,
        title: room !== null && label !== capitalised(room) && capitalised(room),
        "aria-label": `${label}${isObserved ? ", observed" : ""}${calls ? ", your turn" : ""}`,
        "aria-current": isHere && outside.page() === null && "page",
        click: () => outside.visit(room),
      },
      isObserved && h("span.eye", { "aria-hidden": "true" }),
      label,
    );
  }

  /** @param {string | null} room */
  isObserved(room) {
    return room !== null && room !== this.state.place && this.state.observed.includes(room);
  }

  /**
   * Return the button that leads to the next board, not in view, where an opponent waits; it is seen
   * where the places may be scrolled out of view.
   *
   * @param {string[]} seats
   */
  nextCall(seats) {
    const here = this.outside.inView() ?? "";
    const calling = seats.filter((each) => each !== here && this.isWaitedFor(each));
    const next = calling.find((each) => each > here) ?? calling[0];
    if (next === undefined) return false;
    const label = `Your turn at ${counted(calling.length, "other board")}`;
    const click = () => this.outside.visit(next);
    return h(
      "button.place.calls.next",
      { type: "button", "data-key": "next", "aria-label": label, title: label, click },
      String(calling.length),
    );
  }

  /**
   * Whether it is the player's turn in a match.
   *
   * @param {string} board
   */
  isWaitedFor(board) {
    const { state } = this;
    const isMatch = state.sides(state.tables.get(board)).length === 1 && board !== state.exercise?.board;
    return isMatch && state.mover(board) !== null;
  }

  /**
   * Return what a board is called at the top: by the opponents of the player, or by who plays there.
   *
   * @param {string} board
   */
  title(board) {
    const { state } = this;
    const table = state.tables.get(board);
    if (board === state.exercise?.board) return exerciseTitle(state.exercise).split(":")[0];
    const title = titleOf(table, board);
    const isMine = state.sides(table).length === 1 && title !== capitalised(board);
    const opponent = table?.seats.find(({ player }) => player !== state.me.player)?.player;
    return isMine ? `vs ${opponent}` : title;
  }

  /**
   * Return the beginning of the page's title if it is the player's turn, here or elsewhere.
   *
   * @param {string | null} board in view
   */
  call(board) {
    const { state } = this;
    if (board && state.mover(board)) return "● Your turn: ";
    const other = [...state.tables.keys()].find((each) => this.isWaitedFor(each));
    return other ? `● Your turn ${this.title(other)} – ` : "";
  }

  /**
   * Scroll to the place where the player is, beside the hall, which is always seen; once.
   *
   * @param {boolean} [isResized] whether there is other room for it
   */
  scroll(isResized = false) {
    const host = byId("places");
    const current = host.querySelector("[aria-current]");
    const at = `${host.textContent}${current?.textContent}`;
    if (at === this.scrolledTo && !isResized) return; // else it would be scrolled back under a finger
    this.scrolledTo = at;
    const hall = host.firstElementChild;
    if (!current || current === hall) return;
    const room = host.clientWidth - hall.offsetWidth - (host.querySelector(".next")?.offsetWidth ?? 0);
    const before = hall.offsetWidth + Math.max(0, (room - current.offsetWidth) / 2);
    host.scrollLeft = current.offsetLeft - host.offsetLeft - before;
  }
}

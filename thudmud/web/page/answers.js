/**
 * What others answer to the player's offers, challenges and invitations.
 */

import { rulesTitle } from "./dom.js";

/** @typedef {import("./state.js").State} State */

const DECLINED = /^\s*(\w+) declines the offer to ([^.]+)\./;

/**
 * Return that another player declines an offer of the player's, if that is what the server says.
 *
 * @param {string} words what the server says
 * @param {State} state
 */
export function declinedOffer(words, state) {
  const [, player, what] = DECLINED.exec(words) ?? [];
  const isMine = [...state.tables.values()].some(
    (table) => state.sides(table).length === 1 && table.seats.some((each) => each.player === player),
  );
  return isMine ? `${player} declines your offer to ${what.replaceAll("\n", " ")}.` : "";
}

/**
 * Return what became of a challenge of the player's, or to them; nothing if they know.
 *
 * @param {{why: string, player: string, known?: import("./state.js").Seek}} settled
 * @param {string | null} me
 */
export function settledChallenge({ why, player, known }, me) {
  const { player: seeker, to } = known ?? {};
  if (seeker === me && why === "declined") return `${player} declines your challenge.`;
  if (seeker === me && why === "unanswered") return `${to} hasn’t answered your challenge.`;
  if (seeker === me && to && why === "gone") return `${to} has left. Your challenge is withdrawn.`;
  const isOff = ["withdrawn", "gone", "playing"].includes(why);
  return isOff && to === me && seeker !== me ? `${seeker}’s challenge is withdrawn.` : "";
}

/** @param {import("./state.js").Seek} seek */
export function challengeSent({ to, rules, time, side, rated }) {
  const terms = [rulesTitle(rules), time, side && `as ${side}s`, rated ? "rated" : "casual"];
  return `Challenge sent to ${to}: ${terms.filter(Boolean).join(", ")}.`;
}

/**
 * What others answer to the player's offers, challenges and invitations.
 */

import { rulesTitle } from "./dom.js";
import { offered } from "./game.js";

/**
 * Return that another player declines the player's invitation or offer; nothing of those of others.
 *
 * @param {{player: string, to: string, offer: string | null}} declined
 * @param {string | null} me
 */
export function declinedTo({ player, to, offer }, me) {
  if (to !== me || player === me) return "";
  return `${player} declines your ${offer ? `offer ${offered(offer)}` : "invitation"}.`;
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

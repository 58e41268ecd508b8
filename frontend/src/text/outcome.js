// What an answer took, told after the vote: its length, its speed and its cost.

import { part } from "../core/dom.js";
import { gettext, language, ngettext } from "../core/i18n.js";
import { SIDES } from "./pieces.js";

/**
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @typedef {object} AnswerOutcome
 * @property {number} duration_ms
 * @property {number} answer_tokens
 * @property {number} first_token_ms
 * @property {number | null} cost in US dollars
 * @property {boolean} cached given before, to the same prompt
 * @property {string} termination_reason "length_limit" if it was cut
 */

/** @param {HTMLElement} verdict @param {BattleJson} battle */
export function renderOutcomes(verdict, { vote, turns }) {
  const judged = turns.findLast(({ status }) => status === "completed");
  if (!vote || !judged) return;
  for (const side of SIDES) {
    const outcome = outcomeOf(judged, side);
    part(verdict, `tokens-${side}`).textContent = outcome ? sayLength(outcome) : "";
    part(verdict, `speed-${side}`).textContent = outcome ? saySpeed(outcome) : "";
    part(verdict, `cost-${side}`).textContent = outcome ? sayCost(outcome) : "";
  }
}

/** @param {TurnJson} turn @param {"left" | "right"} side */
const outcomeOf = (turn, side) => /** @type {AnswerOutcome | undefined} */ (/** @type {unknown} */ (turn[side].outcome));

/** @param {AnswerOutcome} outcome */
export function sayLength({ answer_tokens, termination_reason }) {
  const tokens = ngettext("%(count)s token", "%(count)s tokens", answer_tokens);
  return termination_reason === "length_limit" ? gettext("%(tokens)s, cut at the limit", { tokens }) : tokens;
}

/** @param {AnswerOutcome} outcome */
export function saySpeed({ answer_tokens, duration_ms, first_token_ms }) {
  const seconds = (duration_ms - first_token_ms) / 1000;
  const first = gettext("first words after %(seconds)s s", { seconds: number(first_token_ms / 1000, 1) });
  if (seconds <= 0) return first;
  return gettext("%(first)s, then %(speed)s tokens/s", { first, speed: number(answer_tokens / seconds, 0) });
}

/** @param {AnswerOutcome} outcome */
export const sayCost = ({ cost, cached }) =>
  cached ? gettext("nothing: answered before") : cost === null ? gettext("unknown") : gettext("$%(dollars)s", { dollars: number(cost, 6) });

/** @param {number} value @param {number} digits after the point, at most */
const number = (value, digits) => value.toLocaleString(language(), { maximumFractionDigits: digits });

// What both agents were and how well they did, told after the vote. Figures fill in while they are computed.

import { part } from "../core/dom.js";
import { gettext, language } from "../core/i18n.js";

/**
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @typedef {"left" | "right"} Side
 * @typedef {object} CallOutcome
 * @property {"none" | "computing" | "partial" | "complete" | "failed"} evaluation
 * @property {number | null} p50_latency_ms
 * @property {number | null} p95_latency_ms
 * @property {number | null} ttfb_avg_ms
 * @property {boolean | null} task_success
 * @property {number} total_turns
 * @property {number} slots_right
 * @property {number} slots_required
 * @typedef {object} AgentFacts
 * @property {string} provider
 * @property {string} architecture
 * @property {string} stt
 * @property {string} llm
 * @property {string} tts
 */

const SIDES = /** @type {const} */ (["left", "right"]);

/** @param {HTMLElement} verdict @param {BattleJson} battle */
export function renderOutcomes(verdict, battle) {
  const judged = battle.turns.findLast(({ status }) => status === "completed");
  if (!battle.vote || !judged) return;
  for (const side of SIDES) {
    const model = battle[`${side}_model`];
    const facts = typeof model === "string" ? {} : model.facts;
    const told = sayAll(/** @type {AgentFacts} */ (facts), outcomeOf(judged, side));
    for (const [name, words] of Object.entries(told)) part(verdict, `${name}-${side}`).textContent = words;
  }
}

/** @param {TurnJson} turn @param {Side} side @returns {CallOutcome | undefined} */
const outcomeOf = (turn, side) => /** @type {CallOutcome | undefined} */ (/** @type {unknown} */ (turn[side].outcome));

/** @param {AgentFacts} agent @param {CallOutcome | undefined} outcome @returns {Record<string, string>} by row of the table */
export function sayAll({ provider, stt, llm, tts }, outcome) {
  const stack = [stt, llm, tts].filter(Boolean).join(" · ");
  const known = Boolean(outcome) && outcome?.evaluation !== "none" && outcome?.evaluation !== "computing";
  const pending = outcome?.evaluation === "failed" ? gettext("could not be computed") : gettext("being computed ...");
  const figure = (/** @type {(outcome: CallOutcome) => string} */ say) => (outcome && known && outcome.evaluation !== "failed" ? say(outcome) : pending);
  return {
    provider: provider ?? "",
    stack,
    latency: figure(sayLatency),
    first: figure(({ ttfb_avg_ms }) => seconds(ttfb_avg_ms)),
    success: figure(({ task_success }) => (task_success ? gettext("yes") : gettext("no"))),
    slots: figure(({ slots_right, slots_required }) => gettext("%(right)s of %(all)s", { right: slots_right, all: slots_required })),
    turns: outcome ? String(outcome.total_turns) : "",
  };
}

/** @param {CallOutcome} outcome */
function sayLatency({ p50_latency_ms, p95_latency_ms }) {
  if (p50_latency_ms === null) return gettext("no answer to measure");
  return gettext("%(usual)s, at worst %(worst)s", { usual: seconds(p50_latency_ms), worst: seconds(p95_latency_ms) });
}

/** @param {number | null} ms */
const seconds = (ms) => (ms === null ? "–" : gettext("%(seconds)s s", { seconds: (ms / 1000).toLocaleString(language(), { maximumFractionDigits: 1 }) }));

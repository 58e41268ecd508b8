// Battles of several starts: one instruction from several first states, and one vote.

import { gettext } from "./i18n.js";
import { isOpen } from "./store.js";

/** @import { BattleJson, TurnJson } from "./wire.d.ts" */

/** The number of starts of a battle of several. */
export const SEVERAL = 3;

const STATES = {
  queued: gettext("waiting"),
  running: gettext("playing"),
  completed: gettext("finished"),
  failed: gettext("failed"),
};

/** @param {Pick<BattleJson, "start_count"> | null} battle */
export const hasSeveral = (battle) => (battle?.start_count ?? 1) > 1;

/**
 * Whether the visitor stopped a turn. It is as if it had not been.
 * @param {Pick<TurnJson, "status" | "left" | "right">} turn
 */
export const wasStopped = ({ status, left, right }) => status === "failed" && [left, right].some((side) => side?.error === "cancelled");

/**
 * The turn that is playing or comes next; else the one to be sent again; else the last one that was not stopped.
 * @param {Pick<BattleJson, "turns" | "vote_blocked_because">} battle
 */
export function underWay({ turns, vote_blocked_because }) {
  const again = vote_blocked_because === "starts_missing" ? turns.findLast(({ status }) => status === "failed") : undefined;
  return turns.find(isOpen) ?? again ?? turns.findLast((turn) => !wasStopped(turn));
}

/**
 * "Start 2 of 3"; null for a turn that is none of several.
 * @param {TurnJson} turn @param {Pick<BattleJson, "start_count">} battle
 */
export function sayStart({ start_number }, { start_count }) {
  if (!start_number) return null;
  return gettext("Start %(number)s of %(count)s", { number: start_number, count: start_count });
}

/** @param {TurnJson} turn */
export const sayState = ({ status }) => STATES[status];

/**
 * The turns that both sides completed and that were not shown yet.
 * @param {BattleJson} battle @param {Set<string>} seen turn ids
 */
export function stillToBeSeen({ turns }, seen) {
  return turns.filter(({ turn_id, status }) => status === "completed" && !seen.has(turn_id));
}

// A battle of several starts: one instruction from several first states, one vote. What is said of it, and what it shows.

import { gettext } from "./i18n.js";
import { isOpen } from "./store.js";

/** @import { BattleJson, TurnJson } from "./wire.d.ts" */

/** How many a battle has whose visitor asks for several. */
export const SEVERAL = 3;

const STATES = {
  queued: gettext("waits"),
  running: gettext("plays"),
  completed: gettext("finished"),
  failed: gettext("failed"),
};

/** @param {Pick<BattleJson, "start_count"> | null} battle */
export const hasSeveral = (battle) => (battle?.start_count ?? 1) > 1;

/**
 * The turn that is played, or comes next; else the one that has to be sent again; else the last one.
 * @param {Pick<BattleJson, "turns" | "vote_blocked_because">} battle
 */
export function underWay({ turns, vote_blocked_because }) {
  const again = vote_blocked_because === "starts_missing" ? turns.findLast(({ status }) => status === "failed") : undefined;
  return turns.find(isOpen) ?? again ?? turns.at(-1);
}

/**
 * "Start 2 of 3"; null of a turn that plays none of several.
 * @param {TurnJson} turn @param {Pick<BattleJson, "start_count">} battle
 */
export function sayStart({ start_number }, { start_count }) {
  if (!start_number) return null;
  return gettext("Start %(number)s of %(count)s", { number: start_number, count: start_count });
}

/** @param {TurnJson} turn */
export const sayState = ({ status }) => STATES[status];

/**
 * Turns that both sides completed and that were not on the screen yet.
 * @param {BattleJson} battle @param {Set<string>} seen turn ids
 */
export function stillToBeSeen({ turns }, seen) {
  return turns.filter(({ turn_id, status }) => status === "completed" && !seen.has(turn_id));
}

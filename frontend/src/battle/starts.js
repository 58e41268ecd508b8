// A battle of several starts: one instruction from several first states, one vote. What is said of it, and what it shows.

import { gettext } from "../i18n.js";
import { isOpen } from "./store.js";

/** How many a battle has whose visitor asks for several. */
export const SEVERAL = 3;

const STATES = {
  queued: gettext("waits"),
  running: gettext("plays"),
  completed: gettext("finished"),
  failed: gettext("failed"),
};

export const hasSeveral = (battle) => (battle?.start_count ?? 1) > 1;

/** The turn that is played, or comes next; else the one that has to be sent again; else the last one. */
export function underWay({ turns, vote_blocked_because }) {
  const again = vote_blocked_because === "starts_missing" ? turns.findLast(({ status }) => status === "failed") : undefined;
  return turns.find(isOpen) ?? again ?? turns.at(-1);
}

/** "Start 2 of 3"; null of a turn that plays none of several. */
export function sayStart({ start_number }, { start_count }) {
  if (!start_number) return null;
  return gettext("Start %(number)s of %(count)s", { number: start_number, count: start_count });
}

export const sayState = ({ status }) => STATES[status];

/** Ids of the turns that have to be seen before the vote: those that both sides completed, of one start the shown one. */
export function stillToBeSeen({ turns }, seen) {
  return turns.filter(({ turn_id, status }) => status === "completed" && !seen.has(turn_id));
}

/**
 * In how many starts a side reached the goal; null where the instruction has no judged goal.
 * @param {object[]} starts as `GET battles/{id}` tells them after the vote @param {"left" | "right"} side
 */
export function reached(starts, side) {
  if (starts.some((start) => start[side].success === null)) return null;
  return starts.filter((start) => start[side].success).length;
}

/** "Goal reached in 2 of 3 starts" */
export function sayReached(starts, side) {
  const count = reached(starts, side);
  if (count === null) return gettext("No judged goal");
  return gettext("Goal reached in %(count)s of %(all)s starts", { count, all: starts.length });
}

/** Where a side did not do the same from every start: what one clip alone would have told. "" where nothing was split. */
export function saySplit(starts, names) {
  const said = Object.entries(names).map(([side, name]) => {
    const count = reached(starts, side);
    if (count === 1) return gettext("%(name)s reached the goal from only one of the starts: seen alone, that clip would have been a lucky one.", { name });
    if (count !== null && count > 1 && count < starts.length) {
      return gettext("%(name)s missed the goal from only one of the starts: seen alone, that clip would have been an unlucky one.", { name });
    }
    return "";
  });
  return said.filter(Boolean).join(" ");
}

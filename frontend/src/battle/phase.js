// Where a battle stands, in one word for the page, and what that means in a sentence.

import { gettext } from "../i18n.js";
import { isOpen } from "./store.js";
import { explainVoteBlock } from "./words.js";

/** loading, idle, queued, running, settled, voted or abandoned */
export function phaseOf(battle) {
  if (!battle) return "loading";
  if (battle.status !== "ongoing") return battle.status;
  const last = battle.turns.at(-1);
  if (!last) return "idle";
  return isOpen(last) ? last.status : "settled";
}

/** Why no instruction can be sent now, or null. After a vote one can: it opens the next battle. */
export function whyNotSend(battle) {
  if (!battle) return gettext("No battle is open yet.");
  if (!battle.turns.some(isOpen)) return null;
  return gettext("Both robots are at work. You can write the next instruction meanwhile.");
}

/** Why the vote is closed, or null. `seen`: both replays of a completed turn are on the screen. */
export function whyNotVote(battle, seen) {
  if (!battle.can_vote) return explainVoteBlock(battle.vote_blocked_because);
  return seen ? null : explainVoteBlock("not_seen");
}

/** For the page's live region. */
export function sayPhase(phase, battle) {
  return sentences[phase]?.(battle) ?? "";
}

const sentences = {
  idle: () => gettext("Ready for an instruction."),
  queued: () => gettext("Instruction sent. Waiting for the robots."),
  running: () => gettext("Both robots are working."),
  settled: sayOutcome,
  voted: ({ left_model, right_model }) =>
    gettext("Vote counted. Left was %(left)s, right was %(right)s.", { left: left_model.name, right: right_model.name }),
  abandoned: () => gettext("This battle was left without a vote."),
};

function sayOutcome({ turns, can_vote, vote_blocked_because }) {
  const failed = turns.at(-1).status === "failed";
  const end = can_vote ? gettext("You can vote now.") : explainVoteBlock(vote_blocked_because);
  return `${failed ? gettext("This turn failed.") : gettext("Both robots have finished.")} ${end}`;
}

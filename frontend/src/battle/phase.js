// Where a battle stands, in one word for the page, and what that means in a sentence.

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
  if (!battle) return "No battle is open yet.";
  return battle.turns.some(isOpen) ? "Both robots are at work. You can write the next instruction meanwhile." : null;
}

/** For the page's live region. */
export function sayPhase(phase, battle) {
  return sentences[phase]?.(battle) ?? "";
}

const sentences = {
  idle: () => "Ready for an instruction.",
  queued: () => "Instruction sent. Waiting for the robots.",
  running: () => "Both robots are working.",
  settled: sayOutcome,
  voted: ({ left_model, right_model }) => `Vote counted. Left was ${left_model.name}, right was ${right_model.name}.`,
  abandoned: () => "This battle was left without a vote.",
};

function sayOutcome({ turns, can_vote, vote_blocked_because }) {
  const failed = ["left", "right"].filter((side) => turns.at(-1)[side].status === "failed");
  const end = can_vote ? "You can vote now." : explainVoteBlock(vote_blocked_because);
  if (failed.length > 0) return `The ${failed.join(" and the ")} robot failed. ${end}`;
  return `Both robots have finished. ${end}`;
}

// The phase of a battle as one word, with a sentence that explains it.

import { gettext } from "./i18n.js";
import { hasSeveral, sayStart, underWay } from "./starts.js";
import { isOpen } from "./store.js";
import { explainVoteBlock, ofKind } from "./words.js";

/**
 * @import { BattleJson, TurnJson } from "./wire.d.ts"
 * @typedef {"loading" | "idle" | "queued" | "running" | "settled" | "voted" | "abandoned"} Phase
 */

/** @param {BattleJson | null} battle @returns {Phase} */
export function phaseOf(battle) {
  if (!battle) return "loading";
  if (battle.status !== "ongoing") return battle.status;
  const turn = underWay(battle);
  if (!turn) return "idle";
  return turn.status === "queued" || turn.status === "running" ? turn.status : "settled";
}

/**
 * Why no instruction can be sent, or null. After a vote, an instruction opens the next battle.
 * @param {BattleJson | null} battle
 */
export function whyNotSend(battle) {
  if (!battle) return gettext("No battle is open yet.");
  if (!battle.turns.some(isOpen)) return whyNoOther(battle);
  return ofKind().busy;
}

/** Why an ongoing battle of several starts takes no other instruction, or null. @param {BattleJson} battle */
function whyNoOther(battle) {
  if (battle.status !== "ongoing" || !hasSeveral(battle)) return null;
  if (battle.vote_blocked_because === "starts_missing") return explainVoteBlock("starts_missing");
  if (battle.can_send) return null;
  return gettext("This battle plays one instruction from three starts. Vote first, then give the next one.");
}

/**
 * Why the vote is closed, or null.
 * @param {BattleJson} battle @param {boolean} unseen replays have to come to the screen first
 */
export function whyNotVote(battle, unseen) {
  const reason = battle.can_vote ? (unseen ? "not_seen" : null) : battle.vote_blocked_because;
  if (reason === null) return null;
  return explainVoteBlock(hasSeveral(battle) && SEVERAL_WORDS.has(reason) ? `${reason}_of_several` : reason);
}

const SEVERAL_WORDS = new Set(["not_seen", "turn_running"]);

/** The sentence of the page's live region. @param {Phase} phase @param {BattleJson | null} battle */
export function sayPhase(phase, battle) {
  return (battle && sentences[phase]?.(battle)) ?? "";
}

/** @type {Partial<Record<Phase, (battle: BattleJson) => string>>} */
const sentences = {
  idle: () => gettext("Ready for an instruction."),
  queued: (battle) => {
    const turn = underWay(battle);
    return turn?.start_number && turn.start_number > 1 ? sayNext(turn, battle) : ofKind().sent;
  },
  running: (battle) => {
    const turn = underWay(battle);
    return [turn && sayStart(turn, battle), ofKind().working].filter(Boolean).join(". ");
  },
  settled: sayOutcome,
  voted: ({ left_model, right_model }) =>
    gettext("Your vote is saved. Left: %(left)s. Right: %(right)s.", { left: nameOf(left_model), right: nameOf(right_model) }),
  abandoned: () => gettext("This battle ended without a vote."),
};

/** @param {BattleJson["left_model"]} model @returns {string | null} null before the vote */
export const nameOf = (model) => (typeof model === "string" ? null : model.name);

/** A sentence on a start that waits for the end of the one before. @param {TurnJson} turn @param {BattleJson} battle */
const sayNext = (turn, battle) => gettext("%(start)s follows in a moment.", { start: sayStart(turn, battle) });

/** @param {BattleJson} battle */
function sayOutcome({ turns, can_vote, vote_blocked_because }) {
  const failed = turns.at(-1)?.status === "failed" || vote_blocked_because === "starts_missing";
  const end = can_vote ? gettext("You can vote now.") : explainVoteBlock(vote_blocked_because ?? "");
  return `${failed ? gettext("This turn failed.") : ofKind().finished} ${end}`;
}

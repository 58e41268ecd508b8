// The texts of the page, in one place for a uniform tone.

import { gettext, language } from "./i18n.js";

/** @import { KindWords } from "./kind.d.ts" */

/** @type {KindWords} */
let kindWords;

/** Sets the sentences of the page's kind, before any is used. @param {KindWords} words */
export function useKindWords(words) {
  kindWords = words;
}

/** @returns {KindWords} */
export const ofKind = () => kindWords;

/** @type {Record<string, string>} */
const ERRORS = {
  unreachable: gettext("The server does not answer. Check the connection and try again; what you typed is kept."),
  queue_unavailable: gettext("The queue is not reachable right now. Nothing was started; try again in a moment."),
  episodes_unavailable: gettext("The recordings are not reachable right now. Nothing is lost; try again in a moment."),
  too_many_turns: gettext("As many instructions of yours, or of your network, are under way as may be at a time; what you typed is kept."),
  challenge_required: gettext("Many votes came from your network today, and the check that goes with it did not work out. Reload the page and try again."),
  database_unavailable: gettext("The arena cannot look things up right now. Nothing is lost; try again in a moment."),
  episode_expired: gettext("It is no longer kept, because its battle ended without a vote long ago."),
  battle_closed: gettext("This battle is over. Start the next one."),
  starts_missing: gettext("Not all three starts were played to their end. Send the instruction again to play what is missing; then you can vote."),
  starts_played: gettext("This battle is about one instruction from three starts. Vote, then give the next one."),
  other_starts: gettext("A battle's first instruction sets how many starts it has. Start the next battle to change it."),
  other_instruction: gettext("Some starts of this battle have been played with other words, and the vote is about one instruction. Send those words again."),
  already_voted: gettext("This battle has its vote already, perhaps from another tab. Here is how it ended."),
  not_voted: gettext("A battle can be explored once you have voted."),
  throttled: gettext("That was a lot in a short time."),
  not_found: gettext("There is no such battle among yours. It may belong to another visitor, or the link is incomplete."),
  http_404: gettext("There is no such battle among yours. It may belong to another visitor, or the link is incomplete."),
  http_500: gettext("Something went wrong on the server. Try again; if it stays, tell the people who run this arena."),
  http_502: gettext("The server is restarting. Try again in a moment."),
  http_503: gettext("A part of the arena is not reachable right now. Try again in a moment."),
};

/** @type {Record<string, string>} */
const VOTE_BLOCKED = {
  starts_missing: gettext("Not all three starts were played to their end. Send the instruction again to play what is missing; then you can vote."),
  not_seen_of_several: gettext("Voting opens when you have seen all three starts. Choose the others above."),
  already_voted: gettext("You have voted in this battle."),
  battle_closed: gettext("This battle was left without a vote."),
  not_seen: gettext("Voting opens when you can see both replays. They are being loaded."),
};

/** @type {Record<string, string>} */
const FAILURES = {
  turn_failed: gettext("This turn could not be played to its end. It is as if it had not been."),
  cancelled: gettext("Cancelled. It is as if it had not been."),
  internal: gettext("Something broke on our side."),
};

/** @type {Record<string, string>} */
const VOTES = {
  left_better: gettext("Left is better"),
  right_better: gettext("Right is better"),
  tie: gettext("Tie"),
  both_bad: gettext("Both bad"),
};

/** @type {Record<string, string>} */
const JUDGEMENTS = { left: gettext("Left"), equal: gettext("Equal"), right: gettext("Right") };

/** Refusals that end after a while: their sentence continues with the waiting time. */
const PASSING = new Set(["throttled", "queue_full", "too_many_turns"]);

/**
 * @param {{code: string, message: string, retryAfter?: number | null, longest?: number | null}} error
 * @returns the server's own sentence for a code without words here
 */
export function explainError({ code, message, retryAfter, longest }) {
  if (code === "instruction_too_long" && longest) return sayTooLong(longest);
  const words = ERRORS[code] ?? kindWords.errors[code];
  if (!words) return message;
  return PASSING.has(code) ? `${words} ${sayRetry(retryAfter)}` : words;
}

/** @param {number} longest of an instruction, in characters */
export const sayTooLong = (longest) =>
  gettext("An instruction has at most %(longest)s characters. Say it more briefly; what you typed is kept.", { longest });

/** The length as the server counts it: a character outside the basic plane is one, not two. @param {string} text */
export const characters = (text) => [...text].length;

/** @param {number | null | undefined} seconds */
function sayRetry(seconds) {
  if (!seconds) return gettext("Wait a moment, then try again.");
  if (seconds < 90) return gettext("Try again in %(seconds)s s.", { seconds });
  return gettext("Try again in %(minutes)s min.", { minutes: Math.ceil(seconds / 60) });
}

/** @param {string} code */
export const explainVoteBlock = (code) => VOTE_BLOCKED[code] ?? kindWords.voteBlocked[code] ?? gettext("Voting is closed.");

/** @param {string | null} reason */
export const explainFailure = (reason) => FAILURES[reason ?? ""] ?? kindWords.failures[reason ?? ""] ?? FAILURES.internal;

/** @param {string} vote */
export const voteName = (vote) => VOTES[vote] ?? vote;

/** "Closer to the goal: Left" @param {string} reason @param {string} judgement */
export const sayReason = (reason, judgement) => `${kindWords.reasons[reason]}: ${JUDGEMENTS[judgement]}`;

/** "just now", "5 min ago", "3 h ago", or a date. @param {string} iso */
export function ago(iso, now = Date.now()) {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return gettext("just now");
  if (minutes < 60) return gettext("%(minutes)s min ago", { minutes });
  if (minutes < 24 * 60) return gettext("%(hours)s h ago", { hours: Math.floor(minutes / 60) });
  return new Date(iso).toLocaleDateString(language(), { day: "numeric", month: "short" });
}

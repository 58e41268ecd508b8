// The texts of the page, in one place for a uniform tone.

import { gettext, language } from "./i18n.js";
import { sayTooLong } from "./sentence.js";

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
  unreachable: gettext("The server does not answer. Check your connection and try again; your text is kept."),
  queue_unavailable: gettext("The queue is not reachable right now. Nothing was started; try again in a moment."),
  episodes_unavailable: gettext("The recordings are not reachable right now. Nothing is lost; try again in a moment."),
  too_many_turns: gettext("You or others on your network already have as many instructions running as we allow at once. Your text is kept."),
  challenge_required: gettext("Many votes came from your network today, so your vote needs an extra check, which failed. Reload the page and try again."),
  database_unavailable: gettext("The arena cannot look things up right now. Nothing is lost; try again in a moment."),
  episode_expired: gettext("It is no longer kept because its battle ended long ago without a vote."),
  battle_closed: gettext("This battle is over. Start the next one."),
  starts_missing: gettext("Not all three starts were played to the end. Send the instruction again to play the missing ones; then you can vote."),
  starts_played: gettext("This battle plays one instruction from three starts. Vote first, then give the next one."),
  turns_played: gettext("This battle has as many turns as it may have. Vote, then start the next one."),
  other_starts: gettext("The first instruction decides how many starts a battle has. You can change that in the next battle."),
  other_instruction: gettext("Some starts of this battle were played with a different instruction, but you vote on one instruction only. Send the earlier one again."),
  already_voted: gettext("You have already voted in this battle, perhaps in another tab. Here is how it ended."),
  other_things: gettext("Each of the three starts has other things on it. Ask for these from one start."),
  scene_withdrawn: gettext("This scene is no longer offered. Choose another one."),
  not_voted: gettext("You can explore a battle once you have voted."),
  throttled: gettext("That was a lot in a short time."),
  not_found: gettext("This is not one of your battles. It may belong to somebody else, or the link is incomplete."),
  http_404: gettext("This is not one of your battles. It may belong to somebody else, or the link is incomplete."),
  http_500: gettext("Something went wrong on the server. Try again; if it happens again, tell the people who run this arena."),
  http_502: gettext("The server is restarting. Try again in a moment."),
  http_503: gettext("Part of the arena cannot be reached right now. Try again in a moment."),
};

/** @type {Record<string, string>} */
const VOTE_BLOCKED = {
  starts_missing: gettext("Not all three starts were played to the end. Send the instruction again to play the missing ones; then you can vote."),
  not_seen_of_several: gettext("Voting opens when you have seen all three starts. Choose the others above."),
  already_voted: gettext("You have voted in this battle."),
  battle_closed: gettext("This battle ended without a vote."),
  not_seen: gettext("Voting opens when you can see both replays. They are loading."),
};

/** @type {Record<string, string>} */
const FAILURES = {
  turn_failed: gettext("This turn could not be finished, so it does not count."),
  cancelled: gettext("Cancelled, as if it had never happened."),
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
 * @param {{code: string, message: string, retryAfter?: number | null, longest?: number | null, unit?: string | null, missing?: string[], there?: string[]}} error
 * @returns the server's own sentence for a code without words here
 */
export function explainError({ code, message, retryAfter, longest, unit, missing, there }) {
  if (code === "instruction_too_long" && longest) return sayTooLong(longest, unit);
  if (code === "not_there" && missing && there) return sayNotThere(missing, there);
  const words = ERRORS[code] ?? kindWords.errors[code];
  if (!words) return message;
  return PASSING.has(code) ? `${words} ${sayRetry(retryAfter)}` : words;
}

/** "Not here: carrot. There are: red cube, bowl." @param {string[]} missing @param {string[]} there */
const sayNotThere = (missing, there) =>
  gettext("This is not here: %(missing)s. There are: %(there)s.", { missing: missing.join(", "), there: there.join(", ") });

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

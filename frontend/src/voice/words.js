// Sentences about voice agents.

import { gettext } from "../core/i18n.js";

/** @type {Record<"a" | "b", string>} */
export const AGENT_NAMES = { a: gettext("Agent A"), b: gettext("Agent B") };

/** Why a call ended, by the word of the API. @type {Record<string, string>} */
export const ENDS = {
  caller_hung_up: gettext("You ended the call."),
  agent_hung_up: gettext("The agent ended the call."),
  turn_limit: gettext("The call had as many turns as it may have."),
  time_limit: gettext("The call had lasted as long as it may."),
  agent_silent: gettext("The agent said nothing for too long."),
  agent_failed: gettext("The agent stopped with an error."),
  caller_gone: gettext("The connection was lost for too long."),
  caller_silent: gettext("Nobody spoke for a minute, so the call was ended."),
};

/** @type {import("../core/kind.d.ts").KindWords} */
export const WORDS = {
  errors: {
    queue_full: gettext("Too many battles are waiting right now. Your calls are kept: try again in a moment."),
    no_contestants: gettext("Fewer than two agents are ready to be called. Try again later."),
    calls_missing: gettext("Talk to both agents first."),
    consent_missing: gettext("Calls are recorded: agree to that first."),
    slot_used: gettext("You have called this agent already."),
    other_agent_first: gettext("Agent A is called first."),
    call_running: gettext("This call is held on another page. End it there first, or wait half a minute."),
    call_lost: gettext("The call was lost, with what was said. Call this agent once more."),
    busy: gettext("As many calls as this site can hold are being held. Try again in a minute."),
    voice_off: gettext("This site holds no calls right now."),
    too_large: gettext("The browser sent a piece of audio that is too large."),
    too_much: gettext("The browser sent more audio than a call takes."),
    wrong_audio: gettext("The browser sent something that is no audio."),
  },
  voteBlocked: {
    no_completed_turn: gettext("Voting opens when you have talked to both agents."),
    turn_running: gettext("Voting opens in a moment."),
    turn_running_of_several: gettext("Voting opens in a moment."),
    not_seen: gettext("Voting opens in a moment."),
  },
  failures: {
    policy_failed: gettext("This agent could not be called."),
    timeout: gettext("The agent took too long."),
    worker_lost: gettext("The computer that held the call stopped responding."),
    not_hosted: gettext("No computer can call this agent right now."),
  },
  reasons: {
    understood: gettext("Understood me better"),
    solved: gettext("Got the task done"),
    natural: gettext("More natural to talk to"),
    quick: gettext("Answered more quickly"),
  },
  question: gettext("Which agent was better? Left is agent A, right is agent B."),
  questionOfSeveral: gettext("Which agent was better? Left is agent A, right is agent B."),
  emptyInstruction: gettext("Talk to both agents first."),
  instructionLabels: {
    idle: gettext("Call both agents"),
    settled: gettext("Call both agents"),
    again: gettext("Call both agents"),
    after: gettext("The next call comes after your vote"),
    voted: gettext("Next battle: call two new agents"),
    abandoned: gettext("Next battle: call two new agents"),
  },
  busy: gettext("Both calls are put side by side."),
  sent: gettext("Both calls are put side by side."),
  waiting: gettext("Both calls are put side by side."),
  starting: gettext("Both calls are put side by side."),
  running: gettext("Both calls are put side by side."),
  working: gettext("Both calls are put side by side."),
  finished: gettext("You have talked to both agents."),
};

// Sentences about language models.

import { gettext } from "../core/i18n.js";

/** @type {import("../core/kind.d.ts").KindWords} */
export const WORDS = {
  errors: {
    queue_full: gettext("Too many turns are already waiting, so yours was not started. Your text is kept."),
    no_contestants: gettext("Fewer than two models are ready to compete. Try again later."),
    not_hosted: gettext("One of the models in this battle cannot play right now. Start the next battle, or try again later."),
    turn_running: gettext("Both models are still answering."),
    no_completed_turn: gettext("Both models have to answer before you can vote."),
    prompt_refused: gettext("This prompt is against the rules of this site. The models did not get it, and it is not stored."),
    moderation_unavailable: gettext("Prompts cannot be checked right now. Try again later; your text is kept."),
    nothing_to_repeat: gettext("Only the last turn can be answered again, once both have answered it."),
    invalid_instruction: gettext("The models cannot read this. Write some words."),
  },
  voteBlocked: {
    no_completed_turn: gettext("Voting opens when both have answered."),
    turn_running: gettext("Voting opens when both have answered."),
    turn_running_of_several: gettext("Voting opens when both have answered."),
  },
  failures: {
    policy_failed: gettext("The model stopped with an error."),
    moderated: gettext("The answer is against the rules of this site."),
    timeout: gettext("The model took too long and was stopped."),
    worker_lost: gettext("The computer that ran this model stopped responding."),
    not_hosted: gettext("No computer can run this model right now."),
  },
  reasons: {
    correct: gettext("More correct"),
    helpful: gettext("More helpful"),
    clear: gettext("Clearer"),
    style: gettext("Better style"),
  },
  question: gettext("Which answer is better?"),
  questionOfSeveral: gettext("Which answer is better?"),
  emptyInstruction: gettext("Write what you want to know, for instance: why is the sky blue?"),
  instructionLabels: {
    idle: gettext("Ask both"),
    settled: gettext("Not sure yet? Ask both something else"),
    again: gettext("Ask both again"),
    after: gettext("The next question comes after your vote"),
    voted: gettext("Next battle: ask two new models"),
    abandoned: gettext("Next battle: ask two new models"),
  },
  busy: gettext("Both models are answering. You can already write the next question."),
  sent: gettext("Sent. Waiting for the models."),
  waiting: gettext("Waiting for the models."),
  starting: gettext("Both models begin in a moment."),
  running: gettext("Both models are answering. You see both at the same pace."),
  working: gettext("Both models are answering."),
  finished: gettext("Both models have answered."),
};

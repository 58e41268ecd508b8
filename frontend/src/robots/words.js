// Sentences about robots.

import { gettext } from "../core/i18n.js";

/** @type {import("../core/kind.d.ts").KindWords} */
export const WORDS = {
  errors: {
    queue_full: gettext("Too many turns are already waiting, so yours was not started. Your text is kept."),
    no_contestants: gettext("Fewer than two models are ready to compete. Try again later."),
    not_hosted: gettext("One of the models in this battle cannot play right now. Start the next battle, or try again later."),
    turn_running: gettext("Both robots are still working on the last instruction."),
    no_completed_turn: gettext("Both robots have to finish an instruction before you can vote."),
    no_such_moment: gettext("The robots cannot continue from this moment. Choose another one."),
    invalid_instruction: gettext("The robots cannot read this. Write one line of words."),
  },
  voteBlocked: {
    no_completed_turn: gettext("Voting opens when both robots have finished an instruction."),
    turn_running: gettext("Voting opens when both robots have finished."),
    turn_running_of_several: gettext("Voting opens when both robots have finished all three starts. You vote once, on all three."),
  },
  failures: {
    policy_failed: gettext("The model stopped with an error."),
    timeout: gettext("The model took too long and was stopped."),
    worker_lost: gettext("The computer that ran this model stopped responding."),
    not_hosted: gettext("No computer can run this model right now."),
  },
  reasons: {
    closer: gettext("Closer to the goal"),
    smoother: gettext("Smoother"),
    safer: gettext("Safer"),
    faster: gettext("Faster"),
  },
  question: gettext("Which robot did it better?"),
  questionOfSeveral: gettext("Which robot did it better over all three starts?"),
  emptyInstruction: gettext("Write what the robots should do, for instance: pick up the red cube."),
  instructionLabels: {
    idle: gettext("Tell both robots what to do"),
    settled: gettext("Not sure yet? Give both another instruction"),
    again: gettext("Give both another instruction"),
    after: gettext("The next instruction comes after your vote"),
    voted: gettext("Next battle: give two new models an instruction"),
    abandoned: gettext("Next battle: give two new models an instruction"),
  },
  busy: gettext("Both robots are working. You can already write the next instruction."),
  sent: gettext("Instruction sent. Waiting for the robots."),
  waiting: gettext("Waiting for the robots."),
  starting: gettext("Both robots are getting ready. You will see them in a moment."),
  running: gettext("Both robots are working. You see them at their real speed."),
  working: gettext("Both robots are working."),
  finished: gettext("Both robots have finished."),
};

/** @type {Record<string, string>} */
const ENDINGS = {
  success: gettext("stopped after success"),
  step_limit: gettext("reached the step limit"),
  time_limit: gettext("ran out of time"),
  diverged: gettext("the physics broke down"),
  policy_error: gettext("stopped with an error"),
};

/** @param {string} reason */
export const explainEnding = (reason) => ENDINGS[reason] ?? reason;

// Sentences about robots.

import { gettext } from "../core/i18n.js";

/** @type {import("../core/kind.d.ts").KindWords} */
export const WORDS = {
  errors: {
    queue_full: gettext("More turns are waiting than the robots can play soon, so nothing was started; what you typed is kept."),
    no_contestants: gettext("Fewer than two robots are ready to compete. Try again later."),
    not_hosted: gettext("A robot of this battle cannot play at present. Start the next battle, or try again later."),
    turn_running: gettext("Both robots are still working on the last instruction."),
    no_completed_turn: gettext("Both robots have to finish an instruction before you can vote."),
    no_such_moment: gettext("The robots cannot go on from this moment. Choose another one."),
    invalid_instruction: gettext("This cannot be told to a robot: write one line of words."),
  },
  voteBlocked: {
    no_completed_turn: gettext("Voting opens when both robots have finished an instruction."),
    turn_running: gettext("Voting opens when both robots have finished."),
    turn_running_of_several: gettext("Voting opens when both robots have finished all three starts: one vote on all of them."),
  },
  failures: {
    policy_failed: gettext("The robot's controller gave up."),
    timeout: gettext("The robot took too long and was stopped."),
    worker_lost: gettext("The machine that ran this robot went away."),
    not_hosted: gettext("No machine can run this robot at present."),
  },
  reasons: {
    closer: gettext("Closer to the goal"),
    smoother: gettext("Smoother"),
    safer: gettext("Safer"),
    faster: gettext("Faster"),
  },
  question: gettext("Which robot did it better?"),
  questionOfSeveral: gettext("Which robot did it better, all three starts together?"),
  emptyInstruction: gettext("Write what the robots should do, for instance: pick up the red cube."),
  instructionLabels: {
    idle: gettext("Tell both robots what to do"),
    settled: gettext("Not sure yet? Give both another instruction"),
    again: gettext("Give both another instruction"),
    after: gettext("The next instruction comes after your vote"),
    voted: gettext("Next battle: give two new robots an instruction"),
    abandoned: gettext("Next battle: give two new robots an instruction"),
  },
  busy: gettext("Both robots are at work. You can write the next instruction meanwhile."),
  sent: gettext("Instruction sent. Waiting for the robots."),
  waiting: gettext("Waiting for the robots."),
  starting: gettext("Both robots are getting ready: you will see them in a moment."),
  running: gettext("Both robots are at work: you see them at their own speed."),
  working: gettext("Both robots are working."),
  finished: gettext("Both robots have finished."),
};

/** @type {Record<string, string>} */
const ENDINGS = {
  success: gettext("stopped after success"),
  step_limit: gettext("ran to the step limit"),
  time_limit: gettext("ran out of time"),
  diverged: gettext("the physics broke down"),
  policy_error: gettext("its controller gave up"),
};

/** @param {string} reason */
export const explainEnding = (reason) => ENDINGS[reason] ?? reason;

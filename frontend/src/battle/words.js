// What people read. One place, so that the tone stays one.

const ERRORS = {
  unreachable: "The server does not answer. Check the connection and try again; what you typed is kept.",
  queue_unavailable: "The queue is not reachable right now. Nothing was started; try again in a moment.",
  episodes_unavailable: "The recordings are not reachable right now. Try again in a moment.",
  no_contestants: "Fewer than two robots are ready to compete. Try again later.",
  turn_running: "Both robots are still working on the last instruction.",
  battle_closed: "This battle is over. Start the next one.",
  no_completed_turn: "Both robots have to finish an instruction before you can vote.",
  already_voted: "You have voted in this battle.",
  throttled: "That was a lot in a short time. Wait a moment, then try again.",
  not_found: "There is no such battle among yours. It may belong to another visitor, or the link is incomplete.",
  http_404: "There is no such battle among yours. It may belong to another visitor, or the link is incomplete.",
  http_500: "Something went wrong on the server. Try again; if it stays, tell the people who run this arena.",
  http_502: "The server is restarting. Try again in a moment.",
  http_503: "A part of the arena is not reachable right now. Try again in a moment.",
};

const VOTE_BLOCKED = {
  no_completed_turn: "Voting opens when both robots have finished an instruction.",
  turn_running: "Voting opens when both robots have finished.",
  already_voted: "You have voted in this battle.",
  battle_closed: "This battle was left without a vote.",
};

const FAILURES = {
  policy_failed: "The robot's controller gave up.",
  timeout: "The robot took too long and was stopped.",
  worker_lost: "The machine that ran this robot went away.",
  internal: "Something broke on our side.",
};

export const VOTES = {
  left_better: "Left is better",
  right_better: "Right is better",
  tie: "Tie",
  both_bad: "Both bad",
};

const ENDINGS = {
  success: "stopped after success",
  step_limit: "ran to the step limit",
  time_limit: "ran out of time",
  diverged: "the physics broke down",
  policy_error: "its controller gave up",
};

export const explainError = ({ code, message }) => ERRORS[code] ?? message;
export const explainVoteBlock = (code) => VOTE_BLOCKED[code] ?? "Voting is closed.";
export const explainFailure = (reason) => FAILURES[reason] ?? FAILURES.internal;
export const explainEnding = (reason) => ENDINGS[reason] ?? reason;

/** "just now", "5 min ago", "3 h ago", or a date. */
export function ago(iso, now = Date.now()) {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(iso).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

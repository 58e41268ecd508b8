import assert from "node:assert/strict";
import test from "node:test";

import { metaOf } from "../src/core/sessions.js";
import { sayEffect } from "../src/core/verdict.js";
import { sayParameters } from "../src/robots/facts.js";
import { agreement, sayScoring } from "../src/robots/outcomes.js";

const NAMES = { left: "Octo mini", right: "FiLM base" };
const effect = (left_better, right_better, tie, both_bad) => ({
  pair: { votes: left_better + right_better + tie + both_bad, left_better, right_better, tie, both_bad },
  model_votes: { left: 12, right: 1 },
});

test("earlier votes on the pair are told with names, and only what there was", () => {
  assert.match(sayEffect(effect(1, 0, 0, 0), NAMES), /^1 other vote on this pair has been published: Octo mini won once\. /);
  assert.match(
    sayEffect(effect(2, 1, 0, 1), NAMES),
    /^4 other votes on this pair have been published: Octo mini won 2 times, FiLM base won once, and 1 had no winner\. /,
  );
  assert.equal(sayEffect(effect(0, 0, 0, 0), NAMES), "No other vote on this pair has been published yet.");
});

test("nothing is said about whether this vote counts", () => {
  for (const votes of [effect(1, 2, 3, 4), effect(0, 0, 0, 0)]) assert.doesNotMatch(sayEffect(votes, NAMES), /count|your/i);
});

test("the vote and the physics check are compared in words that hold for any reader", () => {
  const turn = (left, right) => ({ left: { outcome: { success: left } }, right: { outcome: { success: right } } });
  assert.equal(agreement("left_better", turn(true, false)), "The vote agrees with the physics check.");
  assert.match(agreement("right_better", turn(true, false)), /disagree/);
  assert.match(agreement("tie", turn(false, false)), /neither reached the goal/);
  assert.match(agreement("left_better", turn(true, true)), /both reached the goal/);
  assert.match(agreement("tie", turn(null, null)), /cannot score this one automatically/);
});

test("what a turn is scored as is told as the server puts it, and free text as what people judge", () => {
  const goal = { task_id: "pick", text: "pick up the red cube" };
  assert.equal(sayScoring({ goal }), "Scored as: pick up the red cube");
  assert.match(sayScoring({ goal: null }), /cannot score this one automatically: only people judge it/);
});

test("parameters are told in short", () => {
  assert.equal(sayParameters(28_123_456), "28.1M parameters");
  assert.equal(sayParameters(null), "");
});

test("a session is told by its latest instruction, and by what is open", () => {
  const row = { latest_title: "pick", battle_count: 2, last_active_at: new Date().toISOString() };
  const meta = (more) => metaOf({ ...row, ...more });
  assert.equal(meta({ latest_vote: "tie", last_vote: null, last_status: "ongoing" }), "Tie · next battle open · 2 battles · just now");
  assert.equal(meta({ latest_vote: null, last_vote: null, last_status: "ongoing" }), "No vote yet · 2 battles · just now");
  assert.equal(meta({ latest_vote: "tie", last_vote: "tie", last_status: "voted" }), "Tie · 2 battles · just now");
  assert.equal(meta({ latest_vote: null, last_vote: null, last_status: "abandoned" }), "Ended without a vote · 2 battles · just now");
});

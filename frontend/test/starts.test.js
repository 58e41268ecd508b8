import assert from "node:assert/strict";
import test from "node:test";

import { whyNotSend, whyNotVote } from "../src/core/phase.js";
import { stillToBeSeen, underWay, wasStopped } from "../src/core/starts.js";
import { useKindWords } from "../src/core/words.js";
import { agreementOfStarts, reached, sayReached, saySplit } from "../src/robots/outcomes.js";
import { WORDS } from "../src/robots/words.js";

useKindWords(WORDS);

const turn = (number, status) => ({ turn_id: `turn_${number}`, start_number: number, status });
const battle = (...states) => ({
  status: "ongoing",
  start_count: 3,
  can_vote: false,
  can_send: false,
  vote_blocked_because: "turn_running",
  turns: states.map((status, place) => turn(place + 1, status)),
});
/** In which starts the sides reached the goal: "101", "001". */
const starts = (left, right) =>
  [...left].map((mark, place) => ({ left: { success: mark === "1" }, right: { success: right[place] === "1" } }));

test("the start that is played is shown, not the last one", () => {
  assert.equal(underWay(battle("completed", "running", "queued")).start_number, 2);
  assert.equal(underWay(battle("completed", "queued", "queued")).start_number, 2);
  assert.equal(underWay(battle("completed", "completed", "completed")).start_number, 3);
});

test("where a start is missing, the one that has to be sent again is shown", () => {
  const missing = { ...battle("completed", "failed", "completed"), vote_blocked_because: "starts_missing" };
  assert.equal(underWay(missing).start_number, 2);
  assert.match(whyNotSend(missing), /Not all three starts/);
});

test("a turn that the visitor stopped is as if it had not been", () => {
  const stopped = { turn_id: "turn_2", status: "failed", left: { error: "cancelled" }, right: { error: "cancelled" } };
  const failed = { ...stopped, left: { error: "turn_failed" }, right: { error: "turn_failed" } };
  const played = turn(1, "completed");
  const of = (...turns) => ({ turns, vote_blocked_because: null });
  assert.ok(wasStopped(stopped) && !wasStopped(failed) && !wasStopped(played));
  assert.equal(underWay(of(stopped)), undefined);
  assert.equal(underWay(of(played, stopped)), played);
  assert.equal(underWay(of(played, failed)), failed);
});

test("the vote opens when all starts have been played and seen", () => {
  const open = { ...battle("completed", "completed", "completed"), can_vote: true };
  assert.match(whyNotVote(battle("completed", "running", "queued"), true), /all three starts/);
  assert.match(whyNotVote(open, true), /seen all three/);
  assert.equal(whyNotVote(open, false), null);
  assert.deepEqual(
    stillToBeSeen(open, new Set(["turn_1", "turn_3"])).map(({ start_number }) => start_number),
    [2],
  );
});

test("after three starts no other instruction is offered", () => {
  assert.match(whyNotSend({ ...battle("completed", "completed", "completed"), can_vote: true }), /three starts/);
});

test("a lucky clip is called one, and so is an unlucky one", () => {
  const split = starts("100", "110");
  assert.equal(sayReached(split, "left"), "Goal reached in 1 of 3 starts");
  const said = saySplit(split, { left: "Alpha", right: "Beta" });
  assert.match(said, /^Alpha reached the goal from only one .* good luck\. Beta missed the goal from only one .* bad luck\.$/);
  assert.equal(saySplit(starts("111", "000"), { left: "Alpha", right: "Beta" }), "");
});

test("physics names the side that reached the goal more often", () => {
  assert.match(agreementOfStarts("right_better", starts("100", "110")), /vote agrees/);
  assert.match(agreementOfStarts("left_better", starts("100", "110")), /disagree/);
  assert.match(agreementOfStarts("left_better", starts("100", "010")), /equally often/);
  assert.match(agreementOfStarts("tie", starts("100", "010")), /vote agrees/);
  assert.match(agreementOfStarts("both_bad", starts("000", "000")), /vote agrees/);
});

test("without a judged goal nothing is said of luck", () => {
  const free = [{ left: { success: null }, right: { success: null } }];
  assert.equal(reached(free, "left"), null);
  assert.equal(saySplit(free, { left: "Alpha", right: "Beta" }), "");
  assert.match(agreementOfStarts("tie", free), /cannot score this one automatically/);
});

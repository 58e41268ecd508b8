import assert from "node:assert/strict";
import test from "node:test";

import { emptyState, reduce as reduceOf } from "../src/core/store.js";
import { readFrame } from "../src/robots/frames.js";
import { base64Of } from "./frames.js";

const KIND = { chunkType: "rollout.frames", readChunk: readFrame };
const reduce = (state, message) => reduceOf(state, message, KIND);

const ALLOWED = { status: "ongoing", can_vote: false, vote_blocked_because: "no_completed_turn", can_send: true };
const BUSY = { ...ALLOWED, vote_blocked_because: "turn_running", can_send: false };
const VOTABLE = { ...ALLOWED, can_vote: true, vote_blocked_because: null };
const VOTED = { status: "voted", can_vote: false, vote_blocked_because: "already_voted", can_send: false };

const side = (id, news = {}) => ({ episode_id: id, status: "queued", steps: null, error: null, ...news });
const turn = (news = {}) => ({
  turn_id: "turn_1",
  seq: 1,
  instruction: "pick up the red cube",
  start: "continue",
  status: "queued",
  release_from: null,
  step_s: 0.2,
  max_steps: 50,
  goal: null,
  created_at: "2026-01-01T00:00:00Z",
  left: side("ep_l"),
  right: side("ep_r"),
  ...news,
});
const battle = (news = {}) => ({
  battle_id: "battle_1",
  session_id: "sess_1",
  seq: 0,
  left_model: "???",
  right_model: "???",
  turns: [],
  vote: null,
  secret: null,
  starts: null,
  ...ALLOWED,
  ...news,
});
const snapshot = (news) => ({ type: "snapshot", battle: battle(news) });
const opened = { type: "turn.opened", seq: 1, turn: turn(), battle: BUSY };
const RELEASE = "2026-01-01T00:00:03.000Z";
const started = { type: "rollout.started", seq: 2, turn_id: "turn_1", release_from: RELEASE };
/** One number per row, the row's own, negative on the right. */
const frames = (from, to) => {
  const rows = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const [left, right] = [base64Of(...rows), base64Of(...rows.map((row) => 0 - row))];
  return { type: "rollout.frames", turn_id: "turn_1", from_row: from, left, right };
};
const finished = (seq, name, steps) => ({
  type: "rollout.finished",
  seq,
  turn_id: "turn_1",
  side: name,
  episode_id: `ep_${name[0]}`,
  steps,
  url: "",
});
const model = (id) => ({ model_id: id, name: id, family: "film", provenance: "ours" });

const play = (...messages) => messages.reduce(reduce, emptyState());

test("snapshot and events together give what a fresh snapshot says", () => {
  const done = turn({
    status: "completed",
    release_from: RELEASE,
    left: side("ep_l", { status: "completed", steps: 12 }),
    right: side("ep_r", { status: "completed", steps: 12 }),
  });
  const told = play(
    snapshot(),
    opened,
    started,
    frames(0, 0),
    frames(1, 5),
    finished(3, "left", 12),
    finished(4, "right", 12),
    { type: "turn.finished", seq: 5, turn_id: "turn_1", status: "completed", battle: VOTABLE },
  );
  assert.deepEqual(told.battle, battle({ seq: 5, ...VOTABLE, turns: [done] }));
  assert.equal(told.needsSnapshot, false);
});

test("a turn that failed says why as a turn, alike on both sides", () => {
  const failed = (seq, name) => ({ type: "rollout.failed", seq, turn_id: "turn_1", side: name, steps: 0, reason: "turn_failed" });
  const end = { type: "turn.finished", seq: 5, turn_id: "turn_1", status: "failed", battle: ALLOWED };
  const [last] = play(snapshot(), opened, started, failed(3, "left"), failed(4, "right"), end).battle.turns;
  assert.deepEqual([last.status, last.left.error, last.right.error], ["failed", "turn_failed", "turn_failed"]);
});

test("a vote brings the names, the secret and every turn's outcomes", () => {
  const withOutcome = turn({ left: side("ep_l", { outcome: { success: true } }) });
  const vote = { vote_id: "vote_1", vote: "tie", voted_at: "2026-01-01T00:00:00Z" };
  const told = play(snapshot({ turns: [turn()] }), {
    type: "battle.voted",
    seq: 1,
    vote,
    left_model: model("a"),
    right_model: model("b"),
    turns: [withOutcome],
    secret: "5ec4e7",
    starts: null,
    battle: VOTED,
  });
  assert.deepEqual(
    told.battle,
    battle({ seq: 1, ...VOTED, vote, secret: "5ec4e7", left_model: model("a"), right_model: model("b"), turns: [withOutcome] }),
  );
});

test("an event that is not newer than the snapshot is dropped", () => {
  const known = play(snapshot({ seq: 2, turns: [turn({ status: "running" })] }));
  assert.equal(reduce(known, opened), known);
  assert.equal(reduce(known, started), known);
});

test("an older snapshot does not undo newer events", () => {
  const known = play(snapshot(), opened, started);
  assert.equal(reduce(known, snapshot({ seq: 1 })), known);
});

test("a gap changes nothing and asks for a snapshot, which settles it", () => {
  const known = play(snapshot(), opened);
  const gap = reduce(known, finished(4, "left", 12));
  assert.equal(gap.needsSnapshot, true);
  assert.deepEqual(gap.battle, known.battle);
  const healed = reduce(gap, snapshot({ seq: 4, turns: [turn({ release_from: RELEASE })] }));
  assert.equal(healed.needsSnapshot, false);
  assert.equal(healed.battle.turns[0].release_from, RELEASE);
});

test("an event before any snapshot, or of an unknown kind, asks for one", () => {
  assert.equal(reduce(emptyState(), opened).needsSnapshot, true);
  assert.equal(play(snapshot(), { type: "something.new", seq: 1 }).needsSnapshot, true);
});

test("frames are gathered beside the battle, which they leave as it was", () => {
  const known = play(snapshot(), opened, started);
  const told = [frames(0, 0), frames(1, 5)].reduce(reduce, known);
  assert.equal(told.battle, known.battle);
  assert.deepEqual(
    told.chunks.turn_1.map(({ from, left, right }) => [from, [...left], [...right]]),
    [
      [0, [0], [0]],
      [1, [1, 2, 3, 4, 5], [-1, -2, -3, -4, -5]],
    ],
  );
});

test("frames of a page opened in the middle are kept at their place", () => {
  const told = play(snapshot({ seq: 2, turns: [turn({ status: "running", release_from: RELEASE })] }), frames(51, 55));
  assert.deepEqual(told.chunks.turn_1.map(({ from, left }) => [from, left.length]), [[51, 5]]);
  assert.equal(told.needsSnapshot, false);
});

test("frames that are none, or of a turn that nobody knows, are as if they had not come", () => {
  const known = play(snapshot(), opened, started);
  for (const odd of [{ turn_id: "turn_9" }, { from_row: -1 }, { from_row: 1e9 }, { left: "?" }, { right: base64Of(1, 2) }]) {
    assert.equal(reduce(known, { ...frames(0, 0), ...odd }), known);
  }
  assert.equal(reduce(emptyState(), frames(0, 0)).needsSnapshot, false);
});

test("a turn that starts again loses its old rows and keeps its place", () => {
  const again = { type: "turn.opened", seq: 3, turn: turn({ status: "queued" }), battle: BUSY };
  const told = play(snapshot(), opened, started, frames(0, 5), again);
  assert.equal(told.chunks.turn_1, undefined);
  assert.equal(told.battle.turns.length, 1);
  assert.equal(told.battle.turns[0].status, "queued");
});

test("the reducer leaves its input as it was", () => {
  const known = play(snapshot(), opened);
  const copy = structuredClone(known);
  reduce(known, started);
  assert.deepEqual(known, copy);
});

test("chunks of another kind are kept as that kind reads them", () => {
  const words = { chunkType: "answer.words", readChunk: ({ text }) => text.split(" ") };
  const known = play(snapshot(), opened, started);
  const told = reduceOf(known, { type: "answer.words", turn_id: "turn_1", text: "like this" }, words);
  assert.deepEqual(told.chunks, { turn_1: [["like", "this"]] });
  assert.equal(reduceOf(known, { type: "answer.words", turn_id: "turn_1" }, words), known, "no chunk");
});

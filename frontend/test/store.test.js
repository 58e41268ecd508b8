import assert from "node:assert/strict";
import test from "node:test";

import { emptyState, reduce } from "../src/battle/store.js";

const DOORS = { status: "ongoing", can_vote: false, vote_blocked_because: "no_completed_turn", can_send: true };
const BUSY = { ...DOORS, vote_blocked_because: "turn_running", can_send: false };
const VOTABLE = { ...DOORS, can_vote: true, vote_blocked_because: null };
const VOTED = { status: "voted", can_vote: false, vote_blocked_because: "already_voted", can_send: false };

const side = (id, news = {}) => ({ episode_id: id, status: "queued", steps: null, error: null, ...news });
const turn = (news = {}) => ({
  turn_id: "turn_1",
  seq: 1,
  instruction: "pick up the red cube",
  start: "continue",
  status: "queued",
  released_steps: 0,
  max_steps: 50,
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
  ...DOORS,
  ...news,
});
const snapshot = (news) => ({ type: "snapshot", battle: battle(news) });
const opened = { type: "turn.opened", seq: 1, turn: turn(), battle: BUSY };
const started = { type: "rollout.started", seq: 2, turn_id: "turn_1" };
const frames = (seq, from, to) => ({
  type: "rollout.frames",
  seq,
  turn_id: "turn_1",
  from_step: from,
  to_step: to,
  left: { steps: Array.from({ length: to - from + 1 }, (_, i) => [(from + i) / 5, from + i]) },
  right: { steps: Array.from({ length: to - from + 1 }, (_, i) => [(from + i) / 5, -(from + i)]) },
});
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
    released_steps: 12,
    left: side("ep_l", { status: "completed", steps: 12 }),
    right: side("ep_r", { status: "failed", steps: 9, error: "timeout" }),
  });
  const told = play(
    snapshot(),
    opened,
    started,
    frames(3, 0, 5),
    frames(4, 6, 12),
    finished(5, "left", 12),
    { type: "rollout.failed", seq: 6, turn_id: "turn_1", side: "right", steps: 9, reason: "timeout" },
    { type: "turn.finished", seq: 7, turn_id: "turn_1", status: "completed", battle: VOTABLE },
  );
  assert.deepEqual(told.battle, battle({ seq: 7, ...VOTABLE, turns: [done] }));
  assert.equal(told.needsSnapshot, false);
});

test("a vote brings the names and every turn's outcomes", () => {
  const withOutcome = turn({ left: side("ep_l", { outcome: { success: true } }) });
  const vote = { vote_id: "vote_1", vote: "tie", voted_at: "2026-01-01T00:00:00Z" };
  const told = play(snapshot({ turns: [turn()] }), {
    type: "battle.voted",
    seq: 1,
    vote,
    left_model: model("a"),
    right_model: model("b"),
    turns: [withOutcome],
    battle: VOTED,
  });
  assert.deepEqual(
    told.battle,
    battle({ seq: 1, ...VOTED, vote, left_model: model("a"), right_model: model("b"), turns: [withOutcome] }),
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
  const gap = reduce(known, frames(4, 6, 12));
  assert.equal(gap.needsSnapshot, true);
  assert.deepEqual(gap.battle, known.battle);
  const healed = reduce(gap, snapshot({ seq: 4, turns: [turn({ released_steps: 12 })] }));
  assert.equal(healed.needsSnapshot, false);
  assert.equal(healed.battle.turns[0].released_steps, 12);
});

test("an event before any snapshot, or of an unknown kind, asks for one", () => {
  assert.equal(reduce(emptyState(), opened).needsSnapshot, true);
  assert.equal(play(snapshot(), { type: "something.new", seq: 1 }).needsSnapshot, true);
});

test("live rows of both sides are gathered in step", () => {
  const told = play(snapshot(), opened, started, frames(3, 0, 2), frames(4, 3, 4));
  assert.deepEqual(
    told.frames.turn_1.left.map(([, x]) => x),
    [0, 1, 2, 3, 4],
  );
  assert.equal(told.frames.turn_1.right.length, 5);
  assert.equal(told.frames.turn_1.whole, true);
});

test("a page opened in the middle of a turn keeps the place of the rows that it missed", () => {
  const told = play(snapshot({ seq: 2, turns: [turn({ status: "running", released_steps: 9 })] }), frames(3, 10, 14));
  assert.equal(told.frames.turn_1.whole, false);
  assert.deepEqual(told.frames.turn_1.left.slice(0, 10), Array(10).fill(null));
  assert.equal(told.frames.turn_1.left[10][1], 10);
  assert.equal(told.battle.turns[0].released_steps, 14);
});

test("a turn that starts again loses its old rows and keeps its place", () => {
  const again = { type: "turn.opened", seq: 4, turn: turn({ status: "queued" }), battle: BUSY };
  const told = play(snapshot(), opened, started, frames(3, 0, 5), again);
  assert.equal(told.frames.turn_1, undefined);
  assert.equal(told.battle.turns.length, 1);
  assert.equal(told.battle.turns[0].status, "queued");
});

test("the reducer leaves its input as it was", () => {
  const known = play(snapshot(), opened);
  const copy = structuredClone(known);
  reduce(known, started);
  assert.deepEqual(known, copy);
});

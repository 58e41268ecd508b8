// Seeded random input for what a browser decodes: bytes of recordings, and messages of a battle's socket.

import assert from "node:assert/strict";
import test from "node:test";

import { emptyState, reduce as reduceOf } from "../src/core/store.js";
import { readFrame } from "../src/robots/frames.js";
import { Recording } from "../src/viewer/recording.js";
import { decodeFrame, decodeView, Track } from "../src/viewer/view.js";
import { base64Of } from "./frames.js";

const reduce = (state, message) => reduceOf(state, message, { chunkType: "rollout.frames", readChunk: readFrame });
const EFFORT = Number(process.env.FUZZ_EFFORT ?? 1);
let state = Number(process.env.FUZZ_SEED ?? 1);
let tried = 0;

/** 0 <= number < 1, the same ones in every run (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
const below = (end) => Math.floor(random() * end);
const oneOf = (values) => values[below(values.length)];

function times(count, body) {
  for (let left = count * EFFORT; left > 0; left -= 1) {
    tried += 1;
    body();
  }
}

const ODD = [null, undefined, true, "", "toString", "__proto__", "constructor", 0, -1, 1.5, 2 ** 53, NaN, Infinity, [], {}, [[]]];
const someBytes = (length) => Uint8Array.from({ length }, () => below(256)).buffer;

test("any bytes are a whole recording or a RangeError", () => {
  times(2000, () => {
    const sizes = { nq: 1 + below(5), nv: below(5) };
    const control = { memory: below(20), action: below(20) };
    const format = { rate: 25, rowsPerStep: 5, scale: Array(sizes.nq).fill(0.001), quaternions: [] };
    const buffer = someBytes(oneOf([0, 1, below(200), 4 * below(60), 8 * (30 + below(60))]));
    for (const [decode, width, bytes] of [
      [() => decodeView(buffer, format), sizes.nq, 2],
      [() => new Recording(buffer, sizes, control), 1 + sizes.nq + 2 * sizes.nv + control.memory + control.action, 8],
    ]) {
      const whole = buffer.byteLength > 0 && buffer.byteLength % (width * bytes) === 0;
      if (whole) assert.equal(decode().count, buffer.byteLength / width / bytes);
      else assert.throws(decode, RangeError);
    }
  });
});

test("any text is rows of a live frame or a TypeError", () => {
  times(1000, () => {
    const text = oneOf([Buffer.from(someBytes(below(20))).toString("base64"), String.fromCharCode(...Array.from({ length: below(9) }, () => below(300)))]);
    try {
      assert.ok(decodeFrame(text).length > 0);
    } catch (error) {
      assert.ok(error instanceof TypeError, error.name);
    }
  });
});

test("live rows with holes, told in any order and again, keep every row in its place", () => {
  times(1000, () => {
    const track = new Track({ rate: 25, rowsPerStep: 5, scale: [1, 1], quaternions: [] });
    const told = new Set();
    for (let frame = 1 + below(8); frame > 0; frame -= 1) {
      const rows = Array.from({ length: 1 + below(6) }, (_, i) => i);
      const from = below(20);
      track.put(from, Int16Array.from(rows.flatMap((i) => [from + i, 7])));
      rows.forEach((i) => void told.add(from + i));
    }
    assert.equal(track.count, Math.max(...told) + 1);
    assert.equal(track.whole, told.size === track.count);
    for (const row of told) assert.deepEqual([...track.qpos(row)], [row, 7]);
  });
});

const side = (id) => ({ episode_id: id, status: "queued", steps: null, error: null });
const turn = () => ({ turn_id: "turn_1", seq: 1, status: "queued", release_from: null, left: side("l"), right: side("r") });
const battle = (seq) => ({ battle_id: "battle_1", seq, turns: [turn()], vote: null, status: "ongoing" });
const story = () => [
  { type: "snapshot", battle: battle(0) },
  { type: "turn.opened", seq: 1, turn: turn(), battle: { status: "ongoing" } },
  { type: "rollout.started", seq: 2, turn_id: "turn_1", release_from: "2026-01-01T00:00:00Z" },
  { type: "rollout.frames", turn_id: "turn_1", from_row: 0, left: base64Of(1, 2), right: base64Of(1, 3) },
  { type: "rollout.finished", seq: 3, turn_id: "turn_1", side: "left", steps: 1 },
  { type: "rollout.failed", seq: 4, turn_id: "turn_1", side: "right", steps: 0, reason: "turn_failed" },
  { type: "turn.finished", seq: 5, turn_id: "turn_1", status: "failed", turn: null, battle: { status: "ongoing" } },
  { type: "battle.voted", seq: 6, vote: {}, left_model: {}, right_model: {}, turns: [turn()], battle: { status: "voted" } },
];

/** The message with a part replaced, left out or put in. */
function spoil(message) {
  if (random() < 0.1) return oneOf(ODD);
  const places = [message, message.turn, message.battle, message.left].filter((each) => each && typeof each === "object");
  const place = oneOf(places);
  const name = oneOf([...Object.keys(place), "extra"]);
  if (random() < 0.3) delete place[name];
  else place[name] = oneOf(ODD);
  return message;
}

test("whatever a socket says, the page keeps a battle that it can show, or asks for a snapshot", () => {
  times(3000, () => {
    let known = emptyState();
    for (const message of story()) {
      const before = known.battle;
      const spoilt = random() < 0.25;
      known = reduce(known, spoilt ? spoil(message) : message);
      if (known.battle === null) continue;
      assert.ok(Number.isInteger(known.battle.seq), `seq ${known.battle.seq}`);
      assert.ok(Array.isArray(known.battle.turns));
      assert.equal(typeof known.battle.battle_id, "string");
      assert.ok(before === null || known.battle.seq >= before.seq || known.battle.battle_id !== before.battle_id);
    }
    const healed = reduce(known, { type: "snapshot", battle: battle(Number.MAX_SAFE_INTEGER) });
    assert.equal(healed.needsSnapshot, false);
  });
});

test("every message of another's making is no event", () => {
  for (const odd of ODD) {
    assert.deepEqual(reduce(emptyState(), odd).battle, null);
    const known = reduce(reduce(emptyState(), story()[0]), { type: odd, seq: 1 });
    assert.equal(known.needsSnapshot, true);
    assert.equal(known.battle.seq, 0);
  }
});

test.after(() => console.log(`fuzz cases tried in the browser's decoders: ${tried}`));

import assert from "node:assert/strict";
import test from "node:test";

import { decodeStates, Track } from "../src/viewer/decoder.js";

const SIZES = { nq: 3, nv: 2 };

/** Rows of [time, qpos (3), qvel (2)] as the server writes them: float32, little-endian. */
function bytesOf(rows) {
  const view = new DataView(new ArrayBuffer(4 * rows.flat().length));
  rows.flat().forEach((value, index) => view.setFloat32(4 * index, value, true));
  return view.buffer;
}

test("rows become records of time and positions", () => {
  const track = decodeStates(
    bytesOf([
      [0, 1, 2, 3, 9, 9],
      [0.25, 4, 5, 6, 9, 9],
    ]),
    SIZES,
  );
  assert.equal(track.count, 2);
  assert.deepEqual([...track.qpos(0)], [1, 2, 3]);
  assert.deepEqual([...track.qpos(1)], [4, 5, 6]);
  assert.equal(track.duration, 0.25);
  assert.equal(track.complete, true);
});

test("time is counted from the first record, wherever the turn began", () => {
  const track = decodeStates(
    bytesOf([
      [8, 0, 0, 0, 0, 0],
      [8.5, 0, 0, 0, 0, 0],
    ]),
    SIZES,
  );
  assert.equal(track.time(0), 0);
  assert.equal(track.duration, 0.5);
});

test("a length that is no whole number of rows is refused, with what was right", () => {
  assert.throws(() => decodeStates(new ArrayBuffer(20), SIZES), /6 float32 \(24 bytes\); got 20 bytes/);
  assert.throws(() => decodeStates(new ArrayBuffer(0), SIZES), RangeError);
});

test("live rows are added once, however often they are told", () => {
  const track = new Track(2);
  track.append([[0, 1, 1], [0.2, 2, 2]]);
  track.append([[0, 1, 1], [0.2, 2, 2], [0.4, 3, 3]]);
  assert.equal(track.count, 3);
  assert.deepEqual([...track.qpos(2)], [3, 3]);
});

test("a hole in live rows is stood in for by the row before it, and keeps everything in its place", () => {
  const track = new Track(2);
  track.append([[5, 1, 1], null, null]);
  assert.equal(track.count, 1, "nothing is made up before the hole has an end");
  track.append([[5, 1, 1], null, null, [5.6, 3, 3]]);
  assert.deepEqual([...track.qpos(2)], [1, 1]);
  assert.deepEqual([...track.qpos(3)], [3, 3]);
  assert.ok(Math.abs(track.time(3) - 0.6) < 1e-9);
});

test("who comes late sees what comes from then on, at its time", () => {
  const track = new Track(2);
  track.append([null, null, [5.4, 7, 7]]);
  track.append([null, null, [5.4, 7, 7], [5.6, 8, 8]]);
  assert.equal(track.count, 4);
  assert.deepEqual([...track.qpos(0)], [7, 7]);
  assert.ok(Math.abs(track.time(2) - 0.4) < 1e-9);
  assert.ok(Math.abs(track.duration - 0.6) < 1e-9);
});

test("a row of another scene is refused", () => {
  assert.throws(() => new Track(4).push(0, new Float64Array(3)), /4 positions, this one has 3/);
});

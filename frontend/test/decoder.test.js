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
  assert.equal(track.append(0, [[0, 1, 1], [0.2, 2, 2]]), true);
  assert.equal(track.append(0, [[0, 1, 1], [0.2, 2, 2], [0.4, 3, 3]]), true);
  assert.equal(track.append(2, [[0.4, 3, 3]]), true);
  assert.equal(track.count, 3);
  assert.deepEqual([...track.qpos(2)], [3, 3]);
});

test("live rows after a hole are not taken", () => {
  const track = new Track(2);
  track.append(0, [[0, 1, 1]]);
  assert.equal(track.append(2, [[0.4, 3, 3]]), false);
  assert.equal(track.count, 1);
});

test("a row of another scene is refused", () => {
  assert.throws(() => new Track(4).push(0, new Float64Array(3)), /4 positions, this one has 3/);
});

import assert from "node:assert/strict";
import test from "node:test";

import { decodeFrame, decodeView, Track, viewFormatOf } from "../src/viewer/view.js";
import { base64Of } from "./frames.js";

const FORMAT = { rate: 25, rowsPerStep: 5, scale: [0.001, 0.5], quaternions: [] };
const ints = (...values) => Int16Array.from(values);
const close = (got, want) => [...got].forEach((value, i) => void assert.ok(Math.abs(value - want[i]) < 1e-12, `${got} is not ${want}`));

/** As the server writes them: int16, little-endian. */
function bytesOf(...values) {
  const view = new DataView(new ArrayBuffer(2 * values.length));
  values.forEach((value, i) => void view.setInt16(2 * i, value, true));
  return view.buffer;
}

test("rows become positions by their scale, 25 of them a second", () => {
  const track = decodeView(bytesOf(1500, -2, -32767, 3), FORMAT);
  assert.equal(track.count, 2);
  close(track.qpos(0), [1.5, -1]);
  close(track.qpos(1), [-32.767, 1.5]);
  assert.equal(track.duration, 0.04);
  assert.ok(track.whole);
});

test("a step is five rows, and what lies after the last step is not one yet", () => {
  const track = new Track(FORMAT);
  assert.deepEqual([track.count, track.steps, track.duration, track.whole], [0, 0, 0, false]);
  for (let row = 0; row <= 12; row += 1) track.put(row, ints(row, 0));
  assert.equal(track.steps, 2);
  close(track.atStep(2), [0.01, 0]);
  close(track.atStep(9), [0.012, 0]);
});

test("a length that is no whole number of rows is refused, with what was right", () => {
  assert.throws(() => decodeView(new ArrayBuffer(6), FORMAT), /2 int16 \(4 bytes\); got 6 bytes/);
  assert.throws(() => decodeView(new ArrayBuffer(0), FORMAT), RangeError);
  assert.throws(() => new Track(FORMAT).put(0, ints(1, 2, 3)), /2 numbers each; got 3/);
});

test("rounded quaternions get their length of one back", () => {
  const joints = [{ type: 0, qposadr: 1 }];
  const manifest = { view: { rate_hz: 25, rows_per_step: 5, scale: [1, 1, 1, 1, 0.001, 0.001, 0.001, 0.001] } };
  const format = viewFormatOf(manifest, joints);
  assert.deepEqual(format.quaternions, [4]);
  const track = decodeView(bytesOf(7, 0, 0, 0, 924, 0, 0, 383), format);
  assert.ok(Math.abs(Math.hypot(...track.qpos(0).subarray(4)) - 1) < 1e-12);
  assert.ok(Math.abs(track.qpos(0)[4] / track.qpos(0)[7] - 924 / 383) < 1e-9);
  assert.equal(track.qpos(0)[0], 7);
});

test("live rows are taken once, however often they are told", () => {
  const track = new Track(FORMAT);
  track.put(0, ints(1, 0, 2, 0));
  track.put(1, ints(9, 0, 3, 0));
  assert.equal(track.count, 3);
  close(track.qpos(1), [0.002, 0]);
  close(track.qpos(2), [0.003, 0]);
});

test("for rows that were missed the one before stands in until they come, and everything keeps its place", () => {
  const track = new Track(FORMAT);
  track.put(0, ints(1, 0));
  track.put(3, ints(4, 0));
  assert.equal(track.whole, false);
  close(track.qpos(2), [0.001, 0]);
  close(track.qpos(3), [0.004, 0]);
  track.put(1, ints(2, 0, 3, 0));
  close(track.qpos(2), [0.003, 0]);
  assert.ok(track.whole);
});

test("a page opened in the middle shows the first row that it gets, at its time", () => {
  const track = new Track(FORMAT);
  track.put(50, ints(7, 0, 8, 0));
  close(track.qpos(0), [0.007, 0]);
  assert.equal(track.duration, 51 / 25);
  assert.equal(track.whole, false);
});

test("a live frame is base64 of the same bytes, and anything else is none", () => {
  assert.deepEqual([...decodeFrame(base64Of(1500, -2, -32767))], [1500, -2, -32767]);
  for (const odd of ["", "AA==", "not base64!", null, undefined, 7, []]) assert.throws(() => decodeFrame(odd), TypeError);
});

import assert from "node:assert/strict";
import test from "node:test";

import { blend, quaternionAddresses, sample } from "../src/viewer/interpolate.js";

const FREE = 0;
const BALL = 1;
const HINGE = 3;

const turnZ = (degrees) => [Math.cos((degrees * Math.PI) / 360), 0, 0, Math.sin((degrees * Math.PI) / 360)];
const close = (got, want) => got.forEach((value, i) => void assert.ok(Math.abs(value - want[i]) < 1e-12, `${got} is not ${want}`));

/** As viewer/view.js has them: five rows a second. */
const trackOf = (rows) => ({ rate: 5, count: rows.length, qpos: (index) => Float64Array.from(rows[index]) });

test("quaternions start behind a free joint's position, and at a ball joint", () => {
  const joints = [
    { type: HINGE, qposadr: 0 },
    { type: FREE, qposadr: 1 },
    { type: BALL, qposadr: 8 },
  ];
  assert.deepEqual(quaternionAddresses(joints), [4, 8]);
});

test("hinges go straight from record to record", () => {
  const track = trackOf([[1], [3], [3]]);
  assert.ok(Math.abs(sample(track, 0.05, [], new Float64Array(1))[0] - 1.5) < 1e-12);
  assert.equal(sample(track, 0.3, [], new Float64Array(1))[0], 3);
});

test("at a row the positions are exactly the row's", () => {
  const track = trackOf([
    [0.1, ...turnZ(10)],
    [0.3, ...turnZ(70)],
    [0.7, ...turnZ(80)],
  ]);
  for (let i = 0; i < 3; i += 1) close(sample(track, 0.2 * i, [1], new Float64Array(5)), [...track.qpos(i)]);
});

test("orientations turn evenly and stay of length one", () => {
  const out = blend(turnZ(0), turnZ(90), 1 / 3, [0], new Float64Array(4));
  close([...out], turnZ(30));
});

test("orientations take the shorter way, whichever sign they were recorded with", () => {
  const flipped = turnZ(40).map((value) => -value);
  close([...blend(turnZ(0), flipped, 0.5, [0], new Float64Array(4))], turnZ(20));
});

test("nearly equal orientations do not become NaN", () => {
  const out = blend(turnZ(10), turnZ(10), 0.5, [0], new Float64Array(4));
  close([...out], turnZ(10));
});

test("before the first and after the last record the state is held", () => {
  const track = trackOf([[1], [3]]);
  assert.equal(sample(track, -1, [], new Float64Array(1))[0], 1);
  assert.equal(sample(track, 99, [], new Float64Array(1))[0], 3);
});

test("every row of a long track is found at its time", () => {
  const track = trackOf(Array.from({ length: 251 }, (_, i) => [i]));
  for (let row = 0; row <= 250; row += 1) assert.ok(Math.abs(sample(track, row * 0.2, [], new Float64Array(1))[0] - row) < 1e-9);
});

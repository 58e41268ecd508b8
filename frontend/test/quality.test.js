import assert from "node:assert/strict";
import test from "node:test";

import { FrameJudge, pixelRatio, QUALITIES } from "../src/viewer/quality.js";

const judge = (frames) => {
  const judged = new FrameJudge();
  return { verdicts: frames.map((seconds) => judged.isTooSlow(seconds)), mean: judged.mean };
};

test("steady sixty frames a second are kept", () => {
  const { verdicts, mean } = judge(Array(200).fill(1 / 60));
  assert.ok(!verdicts.includes(true));
  assert.ok(Math.abs(mean - 1 / 60) < 1e-9);
});

test("many slow frames ask for less, a few do not", () => {
  assert.equal(judge(Array(40).fill(0.05)).verdicts.at(-1), true);
  assert.ok(!judge(Array(39).fill(0.05)).verdicts.includes(true));
});

test("one long pause does not condemn a machine", () => {
  assert.ok(!judge([...Array(39).fill(1 / 60), 30]).verdicts.includes(true));
});

test("a frame that took no time is not counted", () => {
  assert.equal(judge(Array(100).fill(0)).mean, null);
});

test("the coarse quality has fewer pixels, but not in a picture that is small already", () => {
  const coarse = QUALITIES.at(-1);
  assert.equal(pixelRatio(coarse, 600, 2), 0.5);
  assert.equal(pixelRatio(coarse, 180, 2), 1);
  assert.ok(400 * pixelRatio(coarse, 400, 1) >= 300);
});

test("full quality has the screen's own pixels, up to two for one", () => {
  assert.deepEqual([1, 1.5, 3].map((device) => pixelRatio(QUALITIES[0], 480, device)), [1, 1.5, 2]);
});

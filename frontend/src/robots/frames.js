// Live frames: the rows of both sides of a running turn.

import { decodeFrame } from "../viewer/view.js";

/** @typedef {{from: number, left: Int16Array, right: Int16Array}} Frame the same rows of both sides, `from` the first */

const MOST_ROWS = 100_000;

/** Throws a TypeError for an invalid frame. @param {object} message of the type "rollout.frames" @returns {Frame} */
export function readFrame(message) {
  const { from_row: from, left, right } = /** @type {import("../core/wire.d.ts").RolloutFrames} */ (message);
  if (!Number.isInteger(from) || from < 0 || from > MOST_ROWS) throw new TypeError("no turn has such a row");
  const frame = { from, left: decodeFrame(left), right: decodeFrame(right) };
  if (frame.left.length !== frame.right.length) throw new TypeError("a frame has the same rows of both sides");
  return frame;
}

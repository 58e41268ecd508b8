// Is a record what physics does? And when did the two sides part? Numbers in, answers out.

/** As far as a record may be from what physics makes of it [m]. */
export const TOLERANCE = 1e-4;

/**
 * `whole`: per record, how far it is from the whole episode played from its start; `steps`: from the one control step
 * before it [m]. Where contacts are so delicate that rounding grows, the whole may part while each step still follows.
 * @returns {{verdict: "same" | "follows" | "different", whole: number, step: number, record: number | null}}
 *   largest errors [m]; `record`: the first that does not follow
 */
export function judgeRecord(whole, steps, tolerance = TOLERANCE) {
  const record = steps.findIndex((error) => !(error <= tolerance));
  const worst = { whole: largest(whole), step: largest(steps) };
  if (record >= 0) return { verdict: "different", ...worst, record: record + 1 };
  return { verdict: worst.whole <= tolerance ? "same" : "follows", ...worst, record: null };
}

/** Two sides have parted when tools or one object are so far apart [m]. */
const APART = 0.02;

/** @returns {number | null} the first instant [s] at which two rehearsals are apart, null when they never are */
export function divergence(left, right, apart = APART) {
  const samples = Math.min(left.times.length, right.times.length);
  for (let sample = 0; sample < samples; sample += 1) {
    if (distance(left.tool, right.tool, sample) > apart) return left.times[sample];
    for (const name of Object.keys(left.objects)) {
      if (distance(left.objects[name], right.objects[name], sample) > apart) return left.times[sample];
    }
  }
  return null;
}

function distance(one, other, sample) {
  return Math.hypot(...[0, 1, 2].map((axis) => one[3 * sample + axis] - other[3 * sample + axis]));
}

function largest(values) {
  return values.reduce((most, value) => (value > most || Number.isNaN(value) ? value : most), 0);
}

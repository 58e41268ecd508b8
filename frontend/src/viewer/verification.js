// Whether a recording is what physics does: numbers in, an answer out.

/** As far as a record may be from what physics makes of it [m]. */
export const TOLERANCE = 1e-4;

/** A delicate step may end this many times as far off as starts that differ by up to a micrometre end apart. */
const SPREADS = 5;

/**
 * @typedef {object} Verification
 * @property {"same" | "follows" | "different"} verdict
 * @property {number} whole largest error of the episode played from its start [m]
 * @property {number} step largest error of a control step [m], or that of the first that does not follow
 * @property {number | null} record the first that does not follow
 *
 * @typedef {{drift: Float64Array, spread: Float64Array}} StepErrors [m]
 */

/**
 * `whole`: per record, how far it is from the whole episode played from its start; `drift`: from the one control step
 * before it; `spread`: how far apart that step ends from starts that differ by up to 1 µm, known where the drift is large.
 * Where contacts are so delicate that rounding grows, the whole may part while each step still follows.
 * @param {Float64Array} whole [m] @param {StepErrors} steps
 * @returns {Verification}
 */
export function verifyRecording(whole, { drift, spread }, tolerance = TOLERANCE) {
  const wrong = drift.findIndex((error, step) => !(error <= Math.max(tolerance, SPREADS * spread[step])));
  if (wrong >= 0) return { verdict: "different", whole: largest(whole), step: drift[wrong], record: wrong + 1 };
  const worst = { whole: largest(whole), step: largest(drift) };
  return { verdict: worst.whole <= tolerance ? "same" : "follows", ...worst, record: null };
}

/** @param {Float64Array} values */
function largest(values) {
  return values.reduce((most, value) => (value > most || Number.isNaN(value) ? value : most), 0);
}

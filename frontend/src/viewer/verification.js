// Decides whether a recording agrees with the simulation. Pure functions.

/** The largest accepted distance between a record and its simulation [m]. */
export const TOLERANCE = 1e-4;

/** The largest accepted error of a sensitive step, as a multiple of its `spread`. */
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
 * `whole`: per record, its distance from the episode simulated from the start; `drift`: from the one control step
 * before it; `spread`: how far ends of that step lie apart for starts within 1 µm, computed where the drift is large.
 * Where contacts amplify rounding errors, the whole may diverge while each single step still agrees.
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

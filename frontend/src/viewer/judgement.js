// Is a record what physics does? Numbers in, an answer out.

/** As far as a record may be from what physics makes of it [m]. */
export const TOLERANCE = 1e-4;

/** A delicate step may end this many times as far off as starts that differ by up to a micrometre end apart. */
const SPREADS = 5;

/**
 * `whole`: per record, how far it is from the whole episode played from its start; `drift`: from the one control step
 * before it; `spread`: how far apart that step ends from starts that differ by up to 1 µm, known where the drift is large.
 * Where contacts are so delicate that rounding grows, the whole may part while each step still follows.
 * @param {ArrayLike<number>} whole [m] @param {{drift: ArrayLike<number>, spread: ArrayLike<number>}} steps [m]
 * @returns {{verdict: "same" | "follows" | "different", whole: number, step: number, record: number | null}}
 *   largest errors [m]; `record`: the first that does not follow, and `step` its error then
 */
export function judgeRecord(whole, { drift, spread }, tolerance = TOLERANCE) {
  const wrong = drift.findIndex((error, step) => !(error <= Math.max(tolerance, SPREADS * spread[step])));
  if (wrong >= 0) return { verdict: "different", whole: largest(whole), step: drift[wrong], record: wrong + 1 };
  const worst = { whole: largest(whole), step: largest(drift) };
  return { verdict: worst.whole <= tolerance ? "same" : "follows", ...worst, record: null };
}

function largest(values) {
  return values.reduce((most, value) => (value > most || Number.isNaN(value) ? value : most), 0);
}

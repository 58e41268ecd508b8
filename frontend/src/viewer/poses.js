// The poses of geoms, and the distance between two sets of poses.

/** @typedef {{xpos: Float64Array, xmat: Float64Array}} GeomPoses xpos: 3 per geom [m]; xmat: 9 per geom, row by row */

/** Copies. @param {import("@mujoco/mujoco").MjData} data @returns {GeomPoses} */
export function geomPoses(data) {
  return { xpos: Float64Array.from(data.geom_xpos), xmat: Float64Array.from(data.geom_xmat) };
}

/**
 * The largest displacement of any point of any geom [m]: the shift of its centre plus its rotation at the geom's
 * outermost point (`radius`, 0 for an infinite geom, which never turns).
 * @param {GeomPoses} one @param {GeomPoses} other @param {Float64Array} radius
 */
export function displacement(one, other, radius) {
  let worst = 0;
  for (let geom = 0; geom < radius.length; geom += 1) {
    const shift = distance(one.xpos, other.xpos, 3 * geom, 3);
    // For rotations |A - B| (Frobenius) is 2 sqrt(2) sin(angle / 2).
    const turn = distance(one.xmat, other.xmat, 9 * geom, 9) / Math.SQRT2;
    const moved = shift + turn * radius[geom];
    if (!(moved <= worst)) worst = moved; // NaN counts as far away
  }
  return Number.isNaN(worst) ? Infinity : worst;
}

/** @param {Float64Array} one @param {Float64Array} other @param {number} from @param {number} length */
function distance(one, other, from, length) {
  let sum = 0;
  for (let i = from; i < from + length; i += 1) sum += (one[i] - other[i]) ** 2;
  return Math.sqrt(sum);
}

// Interpolates between recorded rows at the display's rate: numbers linearly, orientations along the shorter arc.

const FREE = 0;
const BALL = 1;
const PARALLEL = 0.9995;

/** @typedef {{type: number, qposadr: number}} Joint as MuJoCo numbers them */

/** Addresses in qpos where a quaternion (w, x, y, z) starts. @param {Joint[]} joints */
export function quaternionAddresses(joints) {
  return joints
    .filter(({ type }) => type === FREE || type === BALL)
    .map(({ type, qposadr }) => (type === FREE ? qposadr + 3 : qposadr));
}

/**
 * The positions of a track at `time` [s since its first row], held at both ends.
 * @param {Pick<import("./view.js").Track, "rate" | "count" | "qpos">} track @param {number} time @param {number[]} quaternions
 * @param {Float64Array} out nq positions, written and returned
 */
export function sample(track, time, quaternions, out) {
  const last = track.count - 1;
  const place = Math.min(Math.max(time * track.rate, 0), last);
  const index = Math.floor(place + 1e-6);
  const share = place - index;
  if (index === last || share <= 0) {
    out.set(track.qpos(index)); // bit for bit
    return out;
  }
  return blend(track.qpos(index), track.qpos(index + 1), share, quaternions, out);
}

/**
 * @param {Float64Array} from @param {Float64Array} to @param {number} share @param {number[]} quaternions
 * @param {Float64Array} out
 */
export function blend(from, to, share, quaternions, out) {
  for (let i = 0; i < out.length; i += 1) out[i] = from[i] + (to[i] - from[i]) * share;
  for (const address of quaternions) slerp(from, to, share, address, out);
  return out;
}

/**
 * @param {Float64Array} from @param {Float64Array} to @param {number} share @param {number} at
 * @param {Float64Array} out
 */
function slerp(from, to, share, at, out) {
  let cosine = 0;
  for (let i = at; i < at + 4; i += 1) cosine += from[i] * to[i];
  const sign = cosine < 0 ? -1 : 1;
  cosine = Math.min(Math.abs(cosine), 1);
  let fromWeight = 1 - share;
  let toWeight = share;
  if (cosine < PARALLEL) {
    const angle = Math.acos(cosine);
    fromWeight = Math.sin(fromWeight * angle) / Math.sin(angle);
    toWeight = Math.sin(toWeight * angle) / Math.sin(angle);
  }
  let norm = 0;
  for (let i = at; i < at + 4; i += 1) {
    out[i] = fromWeight * from[i] + sign * toWeight * to[i];
    norm += out[i] * out[i];
  }
  norm = Math.sqrt(norm) || 1;
  for (let i = at; i < at + 4; i += 1) out[i] /= norm;
}

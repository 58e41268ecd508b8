// Between two recorded states, at the display's rate: numbers straight, orientations along the shorter arc.

const FREE = 0;
const BALL = 1;
const PARALLEL = 0.9995;

/** Addresses in qpos where a quaternion (w, x, y, z) starts. `joints`: [{type, qposadr}] as MuJoCo numbers them. */
export function quaternionAddresses(joints) {
  return joints
    .filter(({ type }) => type === FREE || type === BALL)
    .map(({ type, qposadr }) => (type === FREE ? qposadr + 3 : qposadr));
}

/**
 * The state of a track at `time` [s since its first record], held at both ends.
 * @param {Float64Array} out nq positions, written and returned
 */
export function sample(track, time, quaternions, out) {
  const last = track.count - 1;
  const index = recordBefore(track, time);
  if (index >= last || time <= 0) {
    out.set(track.qpos(Math.min(index, last)));
    return out;
  }
  const start = track.time(index);
  const share = (time - start) / (track.time(index + 1) - start);
  return blend(track.qpos(index), track.qpos(index + 1), share, quaternions, out);
}

/** Index of the last record at or before `time`; times rise. */
export function recordBefore(track, time) {
  let low = 0;
  let high = track.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (track.time(middle) <= time + 1e-6) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function blend(from, to, share, quaternions, out) {
  for (let i = 0; i < out.length; i += 1) out[i] = from[i] + (to[i] - from[i]) * share;
  for (const address of quaternions) slerp(from, to, share, address, out);
  return out;
}

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

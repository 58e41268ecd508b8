// When a recording has come to rest: pure.

/** A position that changes by more than this from one row to the next has moved [rad, m, or 1]: 9 degrees in a second. */
const MOVED = 0.006;

/**
 * The moment of the last move [s]; 0 if there was none.
 * @param {Pick<import("../viewer/view.js").Track, "count" | "rate"> & {qpos: (index: number) => Float64Array}} track
 */
export function lastMove(track) {
  for (let row = track.count - 1; row > 0; row -= 1) {
    const before = track.qpos(row - 1);
    if (track.qpos(row).some((value, column) => Math.abs(value - before[column]) > MOVED)) return row / track.rate;
  }
  return 0;
}

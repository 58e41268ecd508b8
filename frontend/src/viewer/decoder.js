// Recorded states as a browser gets them: bytes (`states.bin`) or rows of live frames, both become a Track.

const FLOAT_BYTES = 4;

/** Recorded states of one side of one turn; one row per record: time [s] since the first record, and qpos (nq numbers). */
export class Track {
  /** @param {number} nq positions per state @param {number} period seconds between two records */
  constructor(nq, period = 0.2) {
    this.nq = nq;
    this.period = period;
    this.complete = false;
    this.rows = [];
    this.origin = 0;
  }

  get count() {
    return this.rows.length;
  }

  /** Seconds from the first record to the last. */
  get duration() {
    return this.rows.length === 0 ? 0 : this.rows[this.rows.length - 1].time;
  }

  time(index) {
    return this.rows[index].time;
  }

  qpos(index) {
    return this.rows[index].qpos;
  }

  /** `time` as recorded (a follow-up turn need not start at 0); kept relative to the first record. */
  push(time, qpos) {
    if (qpos.length !== this.nq) {
      throw new RangeError(`a state has ${this.nq} positions, this one has ${qpos.length}`);
    }
    if (this.rows.length === 0) this.origin = time;
    this.rows.push({ time: time - this.origin, qpos });
  }

  /**
   * Adds live rows `[time, ...qpos]` from the start on; those already here are skipped. A row that was missed is null:
   * the one before it, or else the one after, stands in for it until the whole recording is here.
   */
  append(rows) {
    for (const row of rows.slice(this.rows.length + this.#missed)) {
      if (row === null) this.#missed += 1;
      else this.#add(row);
    }
  }

  #missed = 0;

  #add([time, ...numbers]) {
    const qpos = Float64Array.from(numbers.slice(0, this.nq));
    const known = this.rows.at(-1)?.qpos ?? qpos;
    for (; this.#missed > 0; this.#missed -= 1) this.push(time - this.#missed * this.period, known);
    this.push(time, qpos);
  }
}

/**
 * Float32 little-endian [records, 1 + nq + nv] (time, qpos, qvel) -> a complete Track.
 * @param {ArrayBuffer} buffer
 * @param {{nq: number, nv: number}} sizes of the scene's model
 */
export function decodeStates(buffer, { nq, nv }) {
  const width = 1 + nq + nv;
  if (buffer.byteLength === 0 || buffer.byteLength % (width * FLOAT_BYTES) !== 0) {
    throw new RangeError(
      `a recording is rows of ${width} float32 (${width * FLOAT_BYTES} bytes); got ${buffer.byteLength} bytes`,
    );
  }
  const view = new DataView(buffer);
  const read = (index) => view.getFloat32(index * FLOAT_BYTES, true);
  const track = new Track(nq);
  for (let start = 0; start < buffer.byteLength / FLOAT_BYTES; start += width) {
    track.push(read(start), Float64Array.from({ length: nq }, (_, column) => read(start + 1 + column)));
  }
  track.complete = true;
  return track;
}

// The exact recording of one side of a turn (`replay.bin`), from which physics can repeat it: float64 rows, the start first.

const BYTES = 8;
export const CONTROL = 14;
export const ACTION = 7;

/**
 * Row k is the state after k control steps: time [s], qpos, qvel, qacc_warmstart, the control memory (14: joint targets,
 * finger target, commanded tool position and quaternion), and the action (7) that led there, zeros at the start.
 */
export class Recording {
  #values;
  #width = 0;
  /** @type {Record<string, [number, number]>} columns, from and to */
  #at = {};

  /** @param {ArrayBuffer} buffer little-endian @param {{nq: number, nv: number}} sizes of the scene's model */
  constructor(buffer, { nq, nv }) {
    const columns = { time: 1, qpos: nq, qvel: nv, warmstart: nv, control: CONTROL, action: ACTION };
    for (const [name, length] of Object.entries(columns)) {
      this.#at[name] = [this.#width, this.#width + length];
      this.#width += length;
    }
    const rowBytes = this.#width * BYTES;
    if (buffer.byteLength === 0 || buffer.byteLength % rowBytes !== 0) {
      throw new RangeError(
        `a replay is rows of ${this.#width} float64 (${rowBytes} bytes); got ${buffer.byteLength} bytes`,
      );
    }
    const view = new DataView(buffer);
    this.#values = Float64Array.from({ length: buffer.byteLength / BYTES }, (_, i) => view.getFloat64(i * BYTES, true));
    this.count = this.#values.length / this.#width;
  }

  /** Seconds since the first record. @param {number} index */
  time(index) {
    return this.#read("time", index)[0] - this.#read("time", 0)[0];
  }

  /** The recorded time, which in a follow-up turn need not start at 0. @param {number} index */
  absoluteTime(index) {
    return this.#read("time", index)[0];
  }

  /** @param {number} index */
  qpos(index) {
    return this.#read("qpos", index);
  }

  /** @param {number} index */
  qvel(index) {
    return this.#read("qvel", index);
  }

  /** @param {number} index */
  warmstart(index) {
    return this.#read("warmstart", index);
  }

  /** @param {number} index */
  control(index) {
    return this.#read("control", index);
  }

  /** @param {number} index */
  action(index) {
    return this.#read("action", index);
  }

  /** @param {string} name @param {number} index */
  #read(name, index) {
    const [from, to] = this.#at[name];
    return this.#values.subarray(index * this.#width + from, index * this.#width + to);
  }
}

/**
 * The motor commands during one piece of the way between two control memories: arm targets move in equal pieces,
 * the finger target applies at once. The same sum as `simulation.controller.ramp`, in the same order.
 * @param {Float64Array} from @param {Float64Array} to @param {number} piece 1..pieces @param {number} pieces
 * @param {Float64Array} out (7) [rad, m], written and returned
 */
export function rampTargets(from, to, piece, pieces, out) {
  const share = piece / pieces;
  for (let joint = 0; joint < 6; joint += 1) out[joint] = from[joint] + (to[joint] - from[joint]) * share;
  out[6] = to[6];
  return out;
}

// The exact recording of one side of a turn (`replay.bin`), from which physics can repeat it: float64 rows, the start first.

const BYTES = 8;
/** The first number of a recording in which things may sleep; others begin with a time. The second is a row's length. */
const WITH_SLEEP = -2;

/**
 * @import { Manifest } from "./manifest.d.ts"
 *
 * @typedef {object} Control how the robot of a scene is controlled, and how that is recorded
 * @property {number} pieces of a control step, in each of which motor commands are constant
 * @property {number} substeps physics steps in each piece
 * @property {number} period seconds of a control step
 * @property {number} memory how many numbers the control memory has
 * @property {number} action how many numbers an action has
 * @property {{column: number, ramped: boolean, stride?: number}[]} motors where in the control memory each actuator's command is
 */

/**
 * @param {Pick<Manifest, "ramp" | "control_hz" | "control_size" | "action_size" | "motors">} manifest
 * @returns {Control}
 */
export function controlOf({ ramp, control_hz, control_size, action_size, motors }) {
  return { ...ramp, period: 1 / control_hz, memory: control_size, action: action_size, motors };
}

/**
 * Row k is the state after k control steps: time [s], qpos, qvel, qacc_warmstart, the control memory, the action that led
 * there, zeros at the start, and which trees sleep.
 */
export class Recording {
  #values;
  #width = 0;
  /** @type {Record<string, [number, number]>} columns, from and to */
  #at = {};

  /**
   * @param {ArrayBuffer} buffer little-endian @param {{nq: number, nv: number}} sizes of the scene's model
   * @param {Pick<Control, "memory" | "action">} control
   */
  constructor(buffer, { nq, nv }, { memory, action }) {
    const [head, trees] = headOf(buffer, 1 + nq + 2 * nv + memory + action);
    const columns = { time: 1, qpos: nq, qvel: nv, warmstart: nv, control: memory, action, asleep: trees };
    this.sleeps = head > 0;
    for (const [name, length] of Object.entries(columns)) {
      this.#at[name] = [this.#width, this.#width + length];
      this.#width += length;
    }
    const rowBytes = this.#width * BYTES;
    const bytes = buffer.byteLength - head * BYTES;
    if (bytes === 0 || bytes % rowBytes !== 0) {
      throw new RangeError(
        `a replay is rows of ${this.#width} float64 (${rowBytes} bytes); got ${bytes} bytes`,
      );
    }
    this.#values = numbersOf(buffer, head, bytes / BYTES);
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

  /** mjData.tree_asleep; empty in a recording in which nothing sleeps. @param {number} index */
  asleep(index) {
    return this.#read("asleep", index);
  }

  /** @param {string} name @param {number} index */
  #read(name, index) {
    const [from, to] = this.#at[name];
    return this.#values.subarray(index * this.#width + from, index * this.#width + to);
  }
}

/**
 * How many numbers precede the rows, and how many trees may sleep.
 * @param {ArrayBuffer} buffer @param {number} columns of a row without sleep
 */
function headOf(buffer, columns) {
  if (buffer.byteLength < 2 * BYTES) return [0, 0];
  const [format, width] = numbersOf(buffer, 0, 2);
  if (format !== WITH_SLEEP) return [0, 0];
  if (!(Number.isInteger(width) && width >= columns)) {
    throw new RangeError(`a row of this scene has at least ${columns} numbers; the replay says ${width}`);
  }
  return [2, width - columns];
}

/** @param {ArrayBuffer} buffer @param {number} from @param {number} count of float64 */
function numbersOf(buffer, from, count) {
  const view = new DataView(buffer, from * BYTES);
  return Float64Array.from({ length: count }, (_, i) => view.getFloat64(i * BYTES, true));
}

/**
 * The motor commands during one piece of the way between two control memories: ramped ones move in equal pieces, the
 * others apply at once. The same sum as `simulation.control.motors.Ramp`, in the same order. With a `stride` the memory
 * has a command for each piece.
 * @param {Float64Array} from @param {Float64Array} to @param {number} piece 1..pieces
 * @param {Pick<Control, "pieces" | "motors">} control
 * @param {Float64Array} out one per motor, written and returned
 */
export function rampTargets(from, to, piece, { pieces, motors }, out) {
  const share = piece / pieces;
  motors.forEach(({ column, ramped, stride = 0 }, motor) => {
    out[motor] = ramped ? from[column] + (to[column] - from[column]) * share : to[column + (piece - 1) * stride];
  });
  return out;
}

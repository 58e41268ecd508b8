// Derives curves, marks and paths of a turn from the recorded positions.

import { touchingPairs } from "./contacts.js";

/**
 * @import { MainModule, MjData, MjModel } from "@mujoco/mujoco"
 * @import { ModelParts } from "./model-parts.js"
 */

/** Shortest contact of both pads with one object that counts as a grasp [s]. */
const HELD = 0.1;
/** Distance below which two geoms touch [m]: rows are rounded, and rounding errors of joints add up along the arm. */
const SLACK = 0.001;

/**
 * Computes the trace of a track. A generator that yields after each row, so that drawing takes precedence.
 *
 * @param {MainModule} engine @param {MjModel} model @param {MjData} data of that model, to work in
 * @param {{rows: Float64Array, rate: number}} track `rows`: nq positions each [m, rad]; `rate`: rows per second
 * @param {ModelParts} parts
 * @returns {Generator<void, Trace>}
 *
 * @typedef {object} Trace one sample per row
 * @property {Float64Array} times [s]
 * @property {Float64Array} tool 3 per sample [m]
 * @property {Float64Array} opening between the pads of the first hand [m]; 0 without a gripper
 * @property {Object<string, Float64Array>} objects 3 per sample [m], by name
 * @property {{time: number, object: string} | null} touch first touch of robot and object
 * @property {{time: number, object: string} | null} grasp first time that both pads of a hand hold an object
 */
export function* trace(engine, model, data, { rows, rate }, parts) {
  const count = rows.length / model.nq;
  const notes = new Notes(count, parts, rate);
  for (let row = 0; row < count; row += 1) {
    data.qpos.set(rows.subarray(row * model.nq, (row + 1) * model.nq));
    engine.mj_kinematics(model, data);
    findContacts(engine, model, data);
    notes.take(data);
    yield;
  }
  return notes.result();
}

/**
 * Restores the model afterwards, since others simulate with it.
 * @param {MainModule} engine @param {MjModel} model @param {MjData} data
 */
function findContacts(engine, model, data) {
  const margins = Float64Array.from(model.geom_margin);
  model.geom_margin.fill(SLACK);
  engine.mj_collision(model, data);
  model.geom_margin.set(margins);
}

class Notes {
  #parts;
  #rate;
  #count = 0;
  /** @type {{object: string | null, samples: number}} */
  #held = { object: null, samples: 0 };
  /** @type {Trace["touch"]} */
  touch = null;
  /** @type {Trace["grasp"]} */
  grasp = null;

  /** @param {number} samples @param {ModelParts} parts @param {number} rate */
  constructor(samples, parts, rate) {
    this.#parts = parts;
    this.#rate = rate;
    this.times = new Float64Array(samples);
    this.tool = new Float64Array(3 * samples);
    this.opening = new Float64Array(samples);
    this.objects = Object.fromEntries(parts.objects.map(({ name }) => [name, new Float64Array(3 * samples)]));
  }

  /** @param {MjData} data */
  take(data) {
    const at = this.#count;
    const { tool, pads, padThickness, objects } = this.#parts;
    this.times[at] = at / this.#rate;
    this.tool.set(data.site_xpos.subarray(3 * tool, 3 * tool + 3), 3 * at);
    this.opening[at] = pads.length > 0 ? gap(data.geom_xpos, pads) - 2 * padThickness : 0;
    for (const { name, body } of objects) this.objects[name].set(data.xpos.subarray(3 * body, 3 * body + 3), 3 * at);
    this.#notice(touchedObjects(data, this.#parts), this.times[at]);
    this.#count += 1;
  }

  /** @returns {Trace} */
  result() {
    const { times, tool, opening, objects, touch, grasp } = this;
    return { times, tool, opening, objects, touch, grasp };
  }

  /** @param {ReturnType<typeof touchedObjects>} objects @param {number} time */
  #notice({ touched, held }, time) {
    this.touch ??= touched === null ? null : { time, object: touched };
    const samples = held !== null && held === this.#held.object ? this.#held.samples + 1 : 1;
    this.#held = { object: held, samples };
    const needed = Math.ceil(HELD * this.#rate);
    if (held !== null && samples === needed) this.grasp ??= { time: time - (needed - 1) / this.#rate, object: held };
  }
}

/**
 * The first object that the robot touches, and the object that both pads of a hand touch.
 * @param {MjData} data @param {ModelParts} parts
 */
function touchedObjects(data, { isRobot, objectOf, pads }) {
  /** @type {Set<string>[]} */
  const onPad = pads.map(() => new Set());
  /** @type {string | null} */
  let touched = null;
  for (const [one, other] of touchingPairs(data)) {
    const robot = isRobot[one] ? one : isRobot[other] ? other : -1;
    const object = objectOf[one] ?? objectOf[other];
    if (robot < 0 || object === null) continue;
    touched ??= object;
    const pad = pads.indexOf(robot);
    if (pad >= 0) onPad[pad].add(object);
  }
  const hands = onPad.flatMap((objects, pad) => (pad % 2 === 0 && pad + 1 < onPad.length ? [[objects, onPad[pad + 1]]] : []));
  const held = hands.flatMap(([one, other]) => [...one].filter((object) => other.has(object)))[0] ?? null;
  return { touched, held };
}

/** @param {Float64Array} positions @param {number[]} pads */
function gap(positions, [one, other]) {
  return Math.hypot(...[0, 1, 2].map((axis) => positions[3 * one + axis] - positions[3 * other + axis]));
}

/** Distance between the tools or between positions of an object from which two sides have diverged [m]. */
const APART = 0.02;

/**
 * @param {Trace} left @param {Trace} right
 * @returns {number | null} the first time [s] at which the traces have diverged, null if they never do
 */
export function divergence(left, right, apart = APART) {
  const samples = Math.min(left.times.length, right.times.length);
  for (let sample = 0; sample < samples; sample += 1) {
    if (distance(left.tool, right.tool, sample) > apart) return left.times[sample];
    for (const name of Object.keys(left.objects)) {
      if (distance(left.objects[name], right.objects[name], sample) > apart) return left.times[sample];
    }
  }
  return null;
}

/** @param {Float64Array} one @param {Float64Array} other @param {number} sample */
function distance(one, other, sample) {
  return Math.hypot(...[0, 1, 2].map((axis) => one[3 * sample + axis] - other[3 * sample + axis]));
}

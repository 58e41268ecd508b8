// Plays a recording through once, out of sight, and notes what happens when: for the plots, the marks and the checks.

import { touchingPairs } from "./contacts.js";
import { TOLERANCE } from "./judgement.js";
import { displacement, geomPoses } from "./poses.js";

/** Both pads on one object for so many samples is a grasp, less is a brush. */
const HELD_SAMPLES = 5;

/** A step that is off is played again from starts this far apart [m, rad], a micrometre at most: delicate, or wrong? */
const NUDGES = [1e-8, 1e-7, 1e-6].flatMap((nudge) => Array(8).fill(nudge));

/**
 * Steps through every control step from its recorded state. A generator that yields after each, so that pictures come
 * first; returns what it found.
 *
 * @param {import("./physics.js").Player} player with the recording loaded
 * @param {ReturnType<import("./anatomy.js").anatomyOf>} anatomy
 * @param {import("./physics.js").Ramp} ramp
 * @returns {Generator<void, Rehearsal>}
 *
 * @typedef {object} Rehearsal `samples` per piece of a control step, the start first
 * @property {Float64Array} times [s]
 * @property {Float64Array} tool 3 per sample [m]
 * @property {Float64Array} opening between the pads [m]
 * @property {Object<string, Float64Array>} objects 3 per sample [m], by name
 * @property {{time: number, object: string} | null} touch first touch of robot and object
 * @property {{time: number, object: string} | null} grasp first time that both pads hold an object
 * @property {Float64Array} drift per record after the start: how far physics was from it [m]
 * @property {Float64Array} spread where that was too far: how far apart the step ends from starts that differ by up to 1 µm [m]
 */
export function* rehearse(engine, model, player, anatomy, ramp) {
  const notes = new Notes(player.recording.count, anatomy, ramp);
  const drift = new Float64Array(player.recording.count - 1);
  const spread = new Float64Array(player.recording.count - 1);
  player.set(0);
  engine.mj_forward(model, player.data);
  notes.take(player.data);
  for (let record = 0; record + 1 < player.recording.count; record += 1) {
    for (let piece = 0; piece < ramp.pieces; piece += 1) {
      player.advance(ramp.substeps);
      engine.mj_kinematics(model, player.data);
      notes.take(player.data);
    }
    drift[record] = player.measureDrift(record + 1);
    if (!(drift[record] <= TOLERANCE)) {
      spread[record] = player.spread(record, NUDGES);
      player.set(record + 1);
    }
    yield;
  }
  return { ...notes.result(), drift, spread };
}

/**
 * Plays the whole recording from its start state and controls alone.
 * @returns {Generator<void, Float64Array>} per record after the start: how far physics is from it [m]
 */
export function* replayWhole(engine, model, player) {
  const { recording } = player;
  const poses = [];
  for (let record = 0; record < recording.count; record += 1) {
    player.set(record);
    engine.mj_kinematics(model, player.data);
    poses.push(geomPoses(player.data));
  }
  yield;
  const errors = new Float64Array(recording.count - 1);
  player.set(0);
  for (let record = 1; record < recording.count; record += 1) {
    player.finishStep();
    engine.mj_kinematics(model, player.data);
    errors[record - 1] = displacement(geomPoses(player.data), poses[record], model.geom_rbound);
    player.goOn();
    yield;
  }
  return errors;
}

class Notes {
  #anatomy;
  #seconds;
  #count = 0;
  #held = { object: null, samples: 0 };

  constructor(records, anatomy, ramp) {
    const samples = (records - 1) * ramp.pieces + 1;
    this.#anatomy = anatomy;
    this.#seconds = ramp.period / ramp.pieces;
    this.times = new Float64Array(samples);
    this.tool = new Float64Array(3 * samples);
    this.opening = new Float64Array(samples);
    this.objects = Object.fromEntries(anatomy.objects.map(({ name }) => [name, new Float64Array(3 * samples)]));
    this.touch = null;
    this.grasp = null;
  }

  take(data) {
    const at = this.#count;
    const { tool, pads, padThickness, objects } = this.#anatomy;
    this.times[at] = at * this.#seconds;
    this.tool.set(data.site_xpos.subarray(3 * tool, 3 * tool + 3), 3 * at);
    this.opening[at] = gap(data.geom_xpos, pads) - 2 * padThickness;
    for (const { name, body } of objects) this.objects[name].set(data.xpos.subarray(3 * body, 3 * body + 3), 3 * at);
    this.#notice(touchedObjects(data, this.#anatomy), this.times[at]);
    this.#count += 1;
  }

  result() {
    const { times, tool, opening, objects, touch, grasp } = this;
    return { times, tool, opening, objects, touch, grasp };
  }

  #notice({ touched, held }, time) {
    this.touch ??= touched === null ? null : { time, object: touched };
    const samples = held !== null && held === this.#held.object ? this.#held.samples + 1 : 1;
    this.#held = { object: held, samples };
    if (held !== null && samples === HELD_SAMPLES) {
      this.grasp ??= { time: time - (HELD_SAMPLES - 1) * this.#seconds, object: held };
    }
  }
}

/** The first object that the robot touches, and the one that both pads touch. */
function touchedObjects(data, { isRobot, objectOf, pads }) {
  const onPad = pads.map(() => new Set());
  let touched = null;
  for (const [one, other] of touchingPairs(data)) {
    const robot = isRobot[one] ? one : isRobot[other] ? other : -1;
    const object = objectOf[one] ?? objectOf[other];
    if (robot < 0 || object === null) continue;
    touched ??= object;
    const pad = pads.indexOf(robot);
    if (pad >= 0) onPad[pad].add(object);
  }
  const held = [...onPad[0]].find((object) => onPad.every((objects) => objects.has(object))) ?? null;
  return { touched, held };
}

function gap(positions, [one, other]) {
  return Math.hypot(...[0, 1, 2].map((axis) => positions[3 * one + axis] - positions[3 * other + axis]));
}

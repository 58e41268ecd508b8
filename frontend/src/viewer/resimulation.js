// Simulates a recording again in the background, to see whether it is what physics does.

import { displacement, geomPoses } from "./poses.js";
import { TOLERANCE } from "./verification.js";

/**
 * @import { MainModule, MjModel } from "@mujoco/mujoco"
 * @import { Player } from "./physics.js"
 * @import { StepErrors } from "./verification.js"
 */

/** A step that is off is played again from starts this far apart [m, rad], a micrometre at most: delicate, or wrong? */
const NUDGES = [1e-8, 1e-7, 1e-6].flatMap((nudge) => Array(8).fill(nudge));

/**
 * Plays every control step from its recorded state. A generator that yields after each, so that pictures come first.
 *
 * @param {Player} player with the recording loaded
 * @returns {Generator<void, StepErrors>} per record after the start: how far physics was
 *   from it; and where that was too far, how far apart the step ends from starts that differ by up to 1 µm [m]
 */
export function* resimulateSteps(player) {
  const { count } = player.recording;
  const drift = new Float64Array(count - 1);
  const spread = new Float64Array(count - 1);
  player.set(0);
  for (let record = 0; record + 1 < count; record += 1) {
    player.finishStep();
    drift[record] = player.measureDrift(record + 1);
    if (!(drift[record] <= TOLERANCE)) {
      spread[record] = player.spread(record, NUDGES);
      player.set(record + 1);
    }
    yield;
  }
  return { drift, spread };
}

/**
 * Plays the whole recording from its start state and controls alone.
 * @param {MainModule} engine @param {MjModel} model @param {Player} player with the recording loaded
 * @returns {Generator<void, Float64Array>} per record after the start: how far physics is from it [m]
 */
export function* resimulateEpisode(engine, model, player) {
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

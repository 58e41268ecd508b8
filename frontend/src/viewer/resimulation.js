// Simulates a recording again in the background, to check that physics reproduces it.

import { displacement, geomPoses } from "./poses.js";
import { TOLERANCE } from "./verification.js";

/**
 * @import { MjModel } from "@mujoco/mujoco"
 * @import { Player } from "./physics.js"
 * @import { StepErrors } from "./verification.js"
 */

/** Perturbations of the start [m, rad], at most 1 µm, that tell whether a deviating step is sensitive or wrong. */
const NUDGES = [1e-8, 1e-7, 1e-6].flatMap((nudge) => Array(8).fill(nudge));

/**
 * Simulates every control step from its recorded state. A generator that yields after each, so that drawing goes first.
 *
 * @param {Player} player with the recording loaded
 * @returns {Generator<void, StepErrors>} per record after the start: its distance from the
 *   simulation and, where that is too large, how far ends of the step lie apart for starts within 1 µm [m]
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
 * Simulates the whole recording from only its start state and controls.
 * @param {MjModel} model @param {Player} player with the recording loaded
 * @returns {Generator<void, Float64Array>} per record after the start: its distance from the simulation [m]
 */
export function* resimulateEpisode(model, player) {
  const { recording } = player;
  const poses = [];
  for (let record = 0; record < recording.count; record += 1) {
    player.set(record);
    player.pose();
    poses.push(geomPoses(player.data));
  }
  yield;
  const errors = new Float64Array(recording.count - 1);
  player.set(0);
  for (let record = 1; record < recording.count; record += 1) {
    player.finishStep();
    player.pose();
    errors[record - 1] = displacement(geomPoses(player.data), poses[record], model.geom_rbound);
    player.goOn();
    yield;
  }
  return errors;
}

// Simulates between records: from each recorded state the engine continues with the recorded motor commands.

import { displacement, geomPoses } from "./poses.js";
import { rampTargets } from "./recording.js";
import { Sleep } from "./sleep.js";

/**
 * @import { MainModule, MjData, MjModel } from "@mujoco/mujoco"
 * @import { Control, Recording } from "./recording.js"
 */

/**
 * One MjData that can be moved to any instant of a recording. Only the player may step or derive it, because things in it
 * may sleep.
 */
export class Player {
  #engine;
  #model;
  #control;
  #targets;
  #place = { record: -1, step: 0 };
  /** @type {Recording | null} */
  #recording = null;
  #sleep;
  /** @type {MjData | null} the same instant with nothing asleep */
  #awake = null;

  /** @param {MainModule} engine @param {MjModel} model @param {Control} control */
  constructor(engine, model, control) {
    this.#engine = engine;
    this.#model = model;
    this.#control = control;
    this.#targets = new Float64Array(control.motors.length);
    this.stepsPerRecord = control.pieces * control.substeps;
    this.data = new engine.MjData(model);
    this.#sleep = new Sleep(engine, model);
  }

  get recording() {
    if (!this.#recording) throw new Error("no recording is loaded");
    return this.#recording;
  }

  /** @param {Recording} recording */
  load(recording) {
    this.#recording = recording;
    this.#place = { record: -1, step: 0 };
  }

  /**
   * Moves to a time [s since the start]: continues from the current state if possible, else from the record before.
   * @param {number} time
   */
  seek(time) {
    const { record, step } = this.placeOf(time);
    if (record !== this.#place.record || step < this.#place.step) this.set(record);
    this.advance(step - this.#place.step);
    this.pose();
  }

  /** Computes the poses of the present state. */
  pose() {
    this.#engaged(() => this.#engine.mj_kinematics(this.#model, this.data));
  }

  /** The present state with all contacts and forces, also those of things that sleep. Valid until the next call. */
  touching() {
    const { data, recording } = this;
    if (!recording.sleeps) {
      if (this.#place.step === 0) this.#engine.mj_forward(this.#model, data); // else the last step has computed them
      return data;
    }
    this.#awake ??= new this.#engine.MjData(this.#model);
    const awake = this.#awake;
    awake.time = data.time;
    awake.qpos.set(data.qpos);
    awake.qvel.set(data.qvel);
    awake.qacc_warmstart.set(data.qacc_warmstart);
    awake.ctrl.set(data.ctrl);
    this.#engine.mj_forward(this.#model, awake);
    return awake;
  }

  /**
   * The record before a time, and the number of physics steps after it, up to the last record.
   * @param {number} time
   */
  placeOf(time) {
    const last = this.recording.count - 1;
    const steps = Math.min(Math.max(Math.round((time / this.#control.period) * this.stepsPerRecord), 0), last * this.stepsPerRecord);
    return { record: Math.floor(steps / this.stepsPerRecord), step: steps % this.stepsPerRecord };
  }

  /**
   * Moves to a recorded state.
   * @param {number} record @param {(qpos: Float64Array) => void} [change] of positions, before anything follows from them
   */
  set(record, change) {
    const { data, recording } = this;
    this.#engaged(() => this.#engine.mj_resetData(this.#model, data));
    data.time = recording.absoluteTime(record);
    data.qpos.set(recording.qpos(record));
    data.qvel.set(recording.qvel(record));
    data.qacc_warmstart.set(recording.warmstart(record));
    const memory = recording.control(record);
    data.ctrl.set(rampTargets(memory, memory, this.#control.pieces, this.#control, this.#targets));
    change?.(data.qpos);
    if (recording.sleeps) this.#sleep.during(() => this.#sleep.derive(data, recording.asleep(record)));
    this.#place = { record, step: 0 };
  }

  /** Runs physics steps with the recorded controls, at most to the end of the control step. @param {number} steps */
  advance(steps) {
    this.#engaged(() => {
      for (let done = 0; done < steps; done += 1) {
        if (this.#place.step % this.#control.substeps === 0) this.#command();
        this.#engine.mj_step(this.#model, this.data);
        this.#place.step += 1;
      }
    });
  }

  /** Simulates to the end of this control step, without restoring the record there. */
  finishStep() {
    this.advance(this.stepsPerRecord - this.#place.step);
  }

  /** After `finishStep`: continues with the next control step from the simulated state. */
  goOn() {
    const { data } = this;
    if (this.recording.sleeps) {
      this.#sleep.during(() => this.#sleep.derive(data, Int32Array.from(data.tree_asleep)));
    }
    this.#place = { record: this.#place.record + 1, step: 0 };
  }

  dispose() {
    this.#sleep.dispose();
    this.#awake?.delete();
    this.data.delete();
  }

  /** Runs the engine with the physics of the recording. @param {() => void} work */
  #engaged(work) {
    if (this.recording.sleeps) this.#sleep.during(work);
    else work();
  }

  #command() {
    const { record, step } = this.#place;
    const piece = step / this.#control.substeps + 1;
    const { recording } = this;
    this.data.ctrl.set(
      rampTargets(recording.control(record), recording.control(record + 1), piece, this.#control, this.#targets),
    );
  }

  /**
   * The distance between ends of a control step whose starts differ by this much: how contacts can amplify rounding
   * errors. Leaves the player at the end of the step.
   * @param {number} record @param {number[]} nudges [m, rad] @returns {number} metres
   */
  spread(record, nudges) {
    const ends = [0, ...nudges].map((nudge, attempt) => {
      this.set(record, (qpos) => {
        for (let i = 0; i < qpos.length; i += 1) qpos[i] += nudge * Math.sin(12.9898 * (i + 1) * attempt); // deterministic
      });
      this.finishStep();
      this.pose();
      return geomPoses(this.data);
    });
    return Math.max(...ends.slice(1).map((end) => displacement(end, ends[0], this.#model.geom_rbound)));
  }

  /** Restores a recorded state. @param {number} record @returns {number} its distance from the simulated one [m] */
  measureDrift(record) {
    this.pose();
    const reached = geomPoses(this.data);
    this.set(record);
    this.pose();
    return displacement(reached, geomPoses(this.data), this.#model.geom_rbound);
  }
}

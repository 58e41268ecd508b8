// The worker's use of the engine: one compiled model, the state shown on each side, and players for recordings.

import { partsOf } from "./model-parts.js";
import { contactForces } from "./contacts.js";
import { describeScene } from "./describe.js";
import { nameOf } from "./names.js";
import { Player } from "./physics.js";
import { orderPolygons } from "./polygons.js";
import { geomPoses } from "./poses.js";
import { Recording } from "./recording.js";
import { resimulateEpisode, resimulateSteps } from "./resimulation.js";
import { trace } from "./trace.js";

/**
 * @import { MainModule, MjData, MjModel } from "@mujoco/mujoco"
 * @import { Manifest, PartNames } from "./manifest.d.ts"
 * @import { ModelDescription } from "./describe.js"
 * @import { ModelParts } from "./model-parts.js"
 * @import { GeomPoses } from "./poses.js"
 * @import { Control } from "./recording.js"
 * @import { Side } from "./sides.js"
 *
 * @typedef {{side: Side, qpos: Float64Array, time: number}} PoseRequest
 * @typedef {GeomPoses & {tool: Float64Array, joints?: Float64Array, contacts?: Float64Array}} Picture
 *   `tool`: the tool point (3) [m] and its axes (9, row by row)
 * @typedef {ModelDescription & {robot: boolean[], finger: boolean[]}} SceneDescription whether a geom is the robot's, and a
 *   part of one of its fingers
 * @typedef {{name: string, bytes: Uint8Array<ArrayBuffer>}[]} Assets by the bare names that the XML uses
 * @typedef {Record<string, number[]>} Positions [m] by name
 */

/** The longest time that background work may delay a frame [ms]. */
const SLICE = 6;

export class EngineHost {
  #engine;
  /** @type {{model: MjModel, parts: ModelParts, control: Control} | null} */
  #scene = null;
  /** @type {Map<string, MjData>} */
  #still = new Map();
  /** @type {Map<Side, Player>} */
  #players = new Map();

  /** @param {MainModule} engine */
  constructor(engine) {
    this.#engine = engine;
  }

  get #loaded() {
    if (!this.#scene) throw new Error("no scene is loaded");
    return this.#scene;
  }

  /** @param {{xml: string, assets: Assets, names: PartNames & Pick<Manifest, "polygons">, control: Control}} scene @returns {SceneDescription} */
  load({ xml, assets, names, control }) {
    const files = new this.#engine.MjVFS();
    try {
      for (const { name, bytes } of assets) files.addBuffer(name, bytes);
      const model = this.#engine.MjModel.from_xml_string(xml, files);
      orderPolygons(model, names.polygons);
      const parts = partsOf(model, names);
      this.#scene = { model, parts, control };
      return { ...describeScene(model), robot: parts.isRobot, finger: parts.isFinger };
    } finally {
      files.delete();
    }
  }

  /**
   * The poses of all geoms on each side.
   * @param {{requests: PoseRequest[], extras: string[]}} wanted
   *   `extras`: "joints" and "contacts"; contacts need an exact recording (`record`) and its `time` [s]
   * @returns {{poses: Picture[], cost: number}} `cost`: milliseconds in total
   */
  poses({ requests, extras }) {
    const began = performance.now();
    const poses = requests.map((request) => {
      const picture = this.#picture(this.#place(request.side, request.qpos), extras);
      if (extras.includes("contacts")) picture.contacts = this.#contacts(request);
      return picture;
    });
    return { poses, cost: performance.now() - began };
  }

  /**
   * Positions by name, for debugging and tests.
   * @param {{qpos: Float64Array}} of @returns {{bodies: Positions, geoms: Positions}}
   */
  inspect({ qpos }) {
    const data = this.#place("inspect", qpos);
    const { model } = this.#loaded;
    return {
      bodies: this.#named(model.name_bodyadr, data.xpos),
      geoms: this.#named(model.name_geomadr, data.geom_xpos),
    };
  }

  /**
   * Sets a side's exact recording, or removes it with `buffer: null`.
   * @param {{side: Side, buffer: ArrayBuffer | null}} of
   */
  record({ side, buffer }) {
    if (buffer === null) {
      this.#players.get(side)?.dispose();
      this.#players.delete(side);
      return null;
    }
    const recording = new Recording(buffer, this.#loaded.model, this.#loaded.control);
    const player = this.#players.get(side) ?? this.#player();
    this.#players.set(side, player);
    player.load(recording);
    return { count: recording.count };
  }

  /** See trace.js. @param {{rows: Float64Array, rate: number}} track */
  async trace(track) {
    const { model, parts } = this.#loaded;
    const data = new this.#engine.MjData(model);
    try {
      return await inSlices(trace(this.#engine, model, data, track, parts));
    } finally {
      data.delete();
    }
  }

  /** See resimulation.js. @param {{buffer: ArrayBuffer}} of */
  resimulateSteps({ buffer }) {
    return this.#inBackground(buffer, resimulateSteps);
  }

  /** Plays the whole episode from its start. @param {{buffer: ArrayBuffer}} of error per record after the start [m] */
  resimulateEpisode({ buffer }) {
    return this.#inBackground(buffer, (player) => resimulateEpisode(this.#loaded.model, player));
  }

  /** The number of engine states in memory, which must not grow. */
  census() {
    return { states: this.#still.size + this.#players.size };
  }

  /** @template T @param {ArrayBuffer} buffer @param {(player: Player) => Generator<void, T>} begin */
  async #inBackground(buffer, begin) {
    const player = this.#player();
    try {
      player.load(new Recording(buffer, this.#loaded.model, this.#loaded.control));
      return await inSlices(begin(player));
    } finally {
      player.dispose();
    }
  }

  #player() {
    return new Player(this.#engine, this.#loaded.model, this.#loaded.control);
  }

  /** @param {MjData} data @param {string[]} extras @returns {Picture} */
  #picture(data, extras) {
    const { model, parts } = this.#loaded;
    const { tool } = parts;
    const axes = [...data.site_xpos.subarray(3 * tool, 3 * tool + 3), ...data.site_xmat.subarray(9 * tool, 9 * tool + 9)];
    const picture = { ...geomPoses(data), tool: Float64Array.from(axes) };
    return extras.includes("joints") ? { ...picture, joints: jointAxes(model, data) } : picture;
  }

  /**
   * Forces depend on velocities, which the visible rows lack, so they are simulated from the record before.
   * @param {PoseRequest} request
   */
  #contacts({ side, time }) {
    const { model } = this.#loaded;
    const player = this.#players.get(side);
    if (!player) return new Float64Array(0);
    player.seek(time);
    return contactForces(this.#engine, model, player.touching());
  }

  /** @param {string} side @param {Float64Array} qpos */
  #place(side, qpos) {
    const { model } = this.#loaded;
    const data = this.#still.get(side) ?? new this.#engine.MjData(model);
    this.#still.set(side, data);
    data.qpos.set(qpos);
    this.#engine.mj_kinematics(model, data);
    return data;
  }

  /** @param {Int32Array} addresses @param {Float64Array} positions */
  #named(addresses, positions) {
    /** @type {Positions} */
    const found = {};
    for (let i = 0; i < addresses.length; i += 1) {
      const name = nameOf(this.#loaded.model, addresses, i);
      if (name) found[name] = Array.from(positions.subarray(3 * i, 3 * i + 3));
    }
    return found;
  }
}

const HINGE = 3;

/** 6 numbers per hinge of the robot: a point on its axis [m], the axis' direction. @param {MjModel} model @param {MjData} data */
function jointAxes(model, data) {
  const hinges = Array.from({ length: model.njnt }, (_, joint) => joint).filter((joint) => model.jnt_type[joint] === HINGE);
  return Float64Array.from(
    hinges.flatMap((joint) => [
      ...data.xanchor.subarray(3 * joint, 3 * joint + 3),
      ...data.xaxis.subarray(3 * joint, 3 * joint + 3),
    ]),
  );
}

/**
 * Runs a generator to its end, and lets other messages be handled in between.
 * @template T @param {Generator<void, T>} work @returns {Promise<T>}
 */
async function inSlices(work) {
  let began = performance.now();
  for (;;) {
    const result = work.next();
    if (result.done) return result.value;
    if (performance.now() - began < SLICE) continue;
    await aMoment();
    began = performance.now();
  }
}

/** Yields to pending messages. A timer would wait four milliseconds every time. @returns {Promise<void>} */
function aMoment() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

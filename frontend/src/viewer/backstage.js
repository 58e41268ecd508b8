// What the worker does with the engine: one compiled model; per side what is shown; players for recordings.

import { anatomyOf } from "./anatomy.js";
import { contactForces } from "./contacts.js";
import { describeScene } from "./describe.js";
import { nameOf } from "./names.js";
import { Player } from "./physics.js";
import { geomPoses } from "./poses.js";
import { Recording } from "./recording.js";
import { rehearse, replayWhole } from "./rehearsal.js";
import { trace } from "./trace.js";

/** Longest that work out of sight holds up a picture [ms]. */
const SLICE = 6;

export class Backstage {
  #engine;
  #model = null;
  #anatomy = null;
  #ramp = null;
  #still = new Map();
  #players = new Map();

  constructor(engine) {
    this.#engine = engine;
  }

  /** @param {string} op the name of a public method here that takes and answers plain values */
  answer(op, args) {
    if (!OPERATIONS.has(op)) throw new RangeError(`unknown operation ${op}; there are ${[...OPERATIONS].join(", ")}`);
    return this[op](args);
  }

  /**
   * @param {{xml: string, assets: {name: string, bytes: Uint8Array}[], names: object, ramp: import("./physics.js").Ramp}}
   *   scene `assets`: by the bare names that the XML uses; `names`: see anatomy.js
   */
  load({ xml, assets, names, ramp }) {
    const files = new this.#engine.MjVFS();
    try {
      for (const { name, bytes } of assets) files.addBuffer(name, bytes);
      this.#model = this.#engine.MjModel.from_xml_string(xml, files);
    } finally {
      files.delete();
    }
    this.#anatomy = anatomyOf(this.#model, names);
    this.#ramp = ramp;
    return { ...describeScene(this.#model), robot: this.#anatomy.isRobot };
  }

  /**
   * Where everything is on each side.
   * @param {{requests: {side: string, qpos: Float64Array, time: number}[], extras: string[]}} wanted
   *   `extras`: "joints"; "contacts", known only of a side whose exact recording is here (`record`), at `time` [s] in it
   * @returns {{poses: object[], cost: number}} `cost`: milliseconds of all of it
   */
  poses({ requests, extras }) {
    const began = performance.now();
    const poses = requests.map((request) => {
      const picture = this.#picture(this.#place(request.side, request.qpos), extras);
      if (extras.includes("contacts")) picture.contacts = this.#contacts(request);
      return { side: request.side, ...picture };
    });
    return { poses, cost: performance.now() - began };
  }

  /** Positions by name, for people who debug and for tests: {bodies: {name: [x, y, z]}, geoms: {...}} */
  inspect({ qpos }) {
    const data = this.#place("inspect", qpos);
    return {
      bodies: this.#named(this.#model.name_bodyadr, data.xpos),
      geoms: this.#named(this.#model.name_geomadr, data.geom_xpos),
    };
  }

  /** Takes a side's exact recording, or with `buffer: null` lets it go. */
  record({ side, buffer }) {
    if (buffer === null) {
      this.#players.get(side)?.dispose();
      this.#players.delete(side);
      return null;
    }
    const recording = new Recording(buffer, this.#model);
    if (!this.#players.has(side)) this.#players.set(side, this.#player());
    this.#players.get(side).load(recording);
    return { count: recording.count };
  }

  /** See trace.js. @param {{rows: Float64Array, rate: number}} track */
  async trace(track) {
    const data = new this.#engine.MjData(this.#model);
    try {
      return await inSlices(trace(this.#engine, this.#model, data, track, this.#anatomy));
    } finally {
      data.delete();
    }
  }

  /** See rehearsal.js. */
  rehearse({ buffer }) {
    return this.#outOfSight(buffer, (player) => rehearse(this.#engine, this.#model, player));
  }

  /** Plays the whole episode from its start. @returns {Promise<Float64Array>} error per record after the start [m] */
  replayWhole({ buffer }) {
    return this.#outOfSight(buffer, (player) => replayWhole(this.#engine, this.#model, player));
  }

  /** How many of the engine's states are kept: what must not grow. */
  census() {
    return { states: this.#still.size + this.#players.size };
  }

  async #outOfSight(buffer, begin) {
    const player = this.#player();
    try {
      player.load(new Recording(buffer, this.#model));
      return await inSlices(begin(player));
    } finally {
      player.dispose();
    }
  }

  #player() {
    return new Player(this.#engine, this.#model, this.#ramp);
  }

  #picture(data, extras) {
    const { tool } = this.#anatomy;
    const shown = {
      ...geomPoses(data),
      tool: Float64Array.from([
        ...data.site_xpos.subarray(3 * tool, 3 * tool + 3),
        ...data.site_xmat.subarray(9 * tool, 9 * tool + 9),
      ]),
    };
    if (extras.includes("joints")) shown.joints = jointAxes(this.#model, data);
    return shown;
  }

  /** Forces follow from speeds, which what is seen does not tell: they are played by physics from the record before. */
  #contacts({ side, time }) {
    const player = this.#players.get(side);
    if (!player) return new Float64Array(0);
    player.seek(time);
    if (player.atRecord) this.#engine.mj_forward(this.#model, player.data); // elsewhere the last step has worked them out
    return contactForces(this.#engine, this.#model, player.data);
  }

  #place(side, qpos) {
    if (!this.#still.has(side)) this.#still.set(side, new this.#engine.MjData(this.#model));
    const data = this.#still.get(side);
    data.qpos.set(qpos);
    this.#engine.mj_kinematics(this.#model, data);
    return data;
  }

  #named(addresses, positions) {
    const found = {};
    for (let i = 0; i < addresses.length; i += 1) {
      const name = nameOf(this.#model, addresses, i);
      if (name) found[name] = Array.from(positions.subarray(3 * i, 3 * i + 3));
    }
    return found;
  }
}

const OPERATIONS = new Set(["load", "poses", "inspect", "record", "trace", "rehearse", "replayWhole", "census"]);
const HINGE = 3;

/** 6 per hinge of the robot: a point on its axis [m], the axis' direction. */
function jointAxes(model, data) {
  const hinges = Array.from({ length: model.njnt }, (_, joint) => joint).filter((joint) => model.jnt_type[joint] === HINGE);
  return Float64Array.from(
    hinges.flatMap((joint) => [
      ...data.xanchor.subarray(3 * joint, 3 * joint + 3),
      ...data.xaxis.subarray(3 * joint, 3 * joint + 3),
    ]),
  );
}

/** Runs a generator to its end, letting other messages in between. */
async function inSlices(work) {
  let began = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - began < SLICE) continue;
    await aMoment();
    began = performance.now();
  }
}

/** The next message's turn. A timer would wait four milliseconds every time. */
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

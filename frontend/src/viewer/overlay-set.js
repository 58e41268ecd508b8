// The overlays that are on, and their content on each side.

import { colourOf } from "./colour.js";
import { otherSide, SIDES } from "./sides.js";

/**
 * @import { Picture } from "./engine-host.js"
 * @import { Path } from "./overlays.js"
 * @import { Shapes } from "./shapes.js"
 * @import { BySide, Side } from "./sides.js"
 * @import { Trace } from "./trace.js"
 * @import { Viewer } from "./viewer.js"
 */

/** In the order of the menu. */
export const OVERLAYS = ["contacts", "joints", "paths", "object", "ghost"];

export class OverlaySet {
  #viewers;
  #shapes;
  /** @type {Set<string>} */
  #on = new Set();
  /** @type {BySide<Trace | null>} */
  #traces = { left: null, right: null };

  /** @param {BySide<Viewer>} viewers @param {Shapes} shapes */
  constructor(viewers, shapes) {
    this.#viewers = viewers;
    this.#shapes = shapes;
    /** @type {string | null} whose path is drawn: the object that the instruction names; null: the one that was touched */
    this.object = null;
  }

  /** @param {string} name @param {boolean} on */
  set(name, on) {
    if (!OVERLAYS.includes(name)) throw new RangeError(`unknown overlay ${name}; there are ${OVERLAYS.join(", ")}`);
    if (on) this.#on.add(name);
    else this.#on.delete(name);
    for (const side of SIDES) this.rebuild(side);
  }

  /** The data that the worker must compute besides the poses. */
  get extras() {
    return ["contacts", "joints"].filter((name) => this.#on.has(name));
  }

  /** @param {BySide<Trace | null>} traces */
  setTraces(traces) {
    this.#traces = traces;
    for (const side of SIDES) this.rebuild(side);
  }

  /** Redraws one side's overlays that do not move with the clock. @param {Side} side */
  rebuild(side) {
    const { overlays } = this.#viewers[side];
    overlays.paths(this.#lines(side));
    overlays.ghost(this.#on.has("ghost") ? this.#shapes : null, tint(otherSide(side)));
    this.#viewers[side].needsDraw = true;
  }

  /** @param {BySide<Picture>} poses @param {number} time [s] */
  update(poses, time) {
    for (const side of SIDES) {
      const { overlays } = this.#viewers[side];
      overlays.contacts(poses[side].contacts);
      overlays.joints(poses[side].joints);
      overlays.ghostPose(poses[otherSide(side)]);
      overlays.progress(time);
    }
  }

  dispose() {
    this.#on.clear();
  }

  /** @param {Side} side */
  #lines(side) {
    const [own, theirs] = [this.#traces[side], this.#traces[otherSide(side)]];
    /** @type {Path[]} */
    const lines = [];
    /** @param {(trace: Trace) => Float64Array | undefined} pointsOf */
    const add = (pointsOf) => {
      for (const [trace, whose] of /** @type {const} */ ([[own, side], [theirs, otherSide(side)]])) {
        const points = trace && pointsOf(trace);
        if (points) lines.push({ points, seconds: trace.times.at(-1) ?? 0, colour: tint(whose), faint: whose !== side });
      }
    };
    if (this.#on.has("paths")) add((trace) => trace.tool);
    const name = this.object ?? own?.touch?.object ?? theirs?.touch?.object;
    if (this.#on.has("object") && name) add((trace) => trace.objects[name]);
    return lines;
  }
}

/** @param {Side} side */
const tint = (side) => colourOf(`--${side}`);

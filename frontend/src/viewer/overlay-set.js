// Which overlays are on, and what each side's shows.

import { colourOf } from "./colour.js";

/** In the order of the menu. */
export const OVERLAYS = ["contacts", "joints", "paths", "object", "ghost"];

const SIDES = ["left", "right"];

export class OverlaySet {
  #viewers;
  #shapes;
  #on = new Set();
  #traces = { left: null, right: null };

  constructor(viewers, shapes) {
    this.#viewers = viewers;
    this.#shapes = shapes;
    /** Name of the object whose way is drawn: the one that the instruction names, else the one that was touched. */
    this.object = null;
  }

  has(name) {
    return this.#on.has(name);
  }

  set(name, on) {
    if (!OVERLAYS.includes(name)) throw new RangeError(`unknown overlay ${name}; there are ${OVERLAYS.join(", ")}`);
    if (on) this.#on.add(name);
    else this.#on.delete(name);
    for (const side of SIDES) this.rebuild(side);
  }

  /** What the worker has to compute beside the poses. */
  get extras() {
    return ["contacts", "joints"].filter((name) => this.#on.has(name));
  }

  /** @param {{left: import("./trace.js").Trace | null, right: object | null}} traces */
  setTraces(traces) {
    this.#traces = traces;
    for (const side of SIDES) this.rebuild(side);
  }

  /** Puts what does not move with the clock into one side's scene. */
  rebuild(side) {
    const { overlays } = this.#viewers[side];
    overlays.paths(this.#lines(side));
    overlays.ghost(this.#on.has("ghost") ? this.#shapes : null, tint(other(side)));
    this.#viewers[side].needsDraw = true;
  }

  /** @param {{left: object, right: object}} poses as the worker answers them */
  update(poses, time) {
    for (const side of SIDES) {
      const { overlays } = this.#viewers[side];
      overlays.contacts(poses[side].contacts);
      overlays.joints(poses[side].joints);
      overlays.ghostPose(poses[other(side)]);
      overlays.progress(time);
    }
  }

  dispose() {
    this.#on.clear();
  }

  #lines(side) {
    const [own, theirs] = [this.#traces[side], this.#traces[other(side)]];
    const lines = [];
    const add = (trace, points, whose, faint) => {
      if (points) lines.push({ points, seconds: trace.times.at(-1), colour: tint(whose), faint });
    };
    if (this.#on.has("paths")) {
      add(own, own?.tool, side, false);
      add(theirs, theirs?.tool, other(side), true);
    }
    if (this.#on.has("object")) {
      const name = this.object ?? own?.touch?.object ?? theirs?.touch?.object;
      add(own, own?.objects[name], side, false);
      add(theirs, theirs?.objects[name], other(side), true);
    }
    return lines;
  }
}

const other = (side) => (side === "left" ? "right" : "left");

const tint = (side) => colourOf(`--${side}`);

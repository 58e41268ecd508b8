// Two viewers, one clock, one engine: shows both sides' recordings in step.

import { presetsOf } from "./cameras.js";
import { Clock } from "./clock.js";
import { quaternionAddresses, sample } from "./interpolate.js";
import { Shapes } from "./scene.js";
import { QUALITIES, Viewer } from "./viewer.js";

export const SIDES = ["left", "right"];

/** Frames slower than this on average, over so many, lower the quality by one [s]. */
const SLOW_FRAME = 0.034;
const JUDGED_FRAMES = 40;
const LONGEST_FRAME = 0.25;

export class Replay extends EventTarget {
  #runtime;
  #manifest;
  #shapes;
  #quaternions;
  #qpos;
  #home;
  #asking = false;
  #stale = true;
  #lastTick = null;
  #frame = 0;
  #slowness = { total: 0, count: 0 };
  #linking = false;

  /**
   * @param {import("./runtime.js").Runtime} runtime with its scene loaded
   * @param {object} manifest of that scene
   * @param {{left: HTMLElement, right: HTMLElement}} hosts
   * @param {string | null} quality a name of QUALITIES to keep to, or null: whatever is smooth
   */
  constructor(runtime, manifest, hosts, quality = null) {
    super();
    this.#runtime = runtime;
    this.#manifest = manifest;
    this.#shapes = new Shapes(runtime.scene);
    this.#quaternions = quaternionAddresses(runtime.scene.joints);
    this.#home = Float64Array.from(manifest.home ?? runtime.scene.home);
    this.#qpos = { left: this.#home.slice(), right: this.#home.slice() };
    this.tracks = { left: null, right: null };
    this.clock = new Clock(1 / manifest.control_hz);
    this.drawn = 0;
    this.presets = presetsOf(manifest.cameras);
    this.viewers = {};
    this.fixed = QUALITIES.some(({ name }) => name === quality);
    const chosen = this.fixed ? QUALITIES.findIndex(({ name }) => name === quality) : null;
    for (const side of SIDES) {
      this.viewers[side] = new Viewer(hosts[side], this.#shapes, {
        label: `Replay of the ${side} robot`,
        quality: chosen,
      });
      this.viewers[side].addEventListener("turned", () => this.#link(side));
      this.viewers[side].addEventListener("lost", () => this.dispatchEvent(new Event("lost")));
    }
    this.setPreset(this.presets[0].id);
    this.clock.addEventListener("change", () => (this.#stale = true));
    this.tick = this.tick.bind(this);
    this.#frame = requestAnimationFrame(this.tick);
  }

  get quality() {
    return QUALITIES[this.viewers.left.quality].name;
  }

  setPreset(id) {
    const preset = this.presets.find((each) => each.id === id) ?? this.presets[0];
    for (const side of SIDES) this.viewers[side].setPreset(preset);
  }

  refreshTheme() {
    for (const side of SIDES) this.viewers[side].refreshTheme();
  }

  /** Other recordings, from their start. A side without one (null) stands in the scene's example state. */
  setTracks({ left, right }, { growing = false, keepTime = false } = {}) {
    this.tracks = { left, right };
    if (!keepTime) this.clock.reset();
    this.grown(growing);
  }

  /** Tells the clock that the tracks have got longer. */
  grown(growing) {
    const ends = SIDES.map((side) => this.tracks[side]?.duration ?? 0);
    this.clock.extend(Math.max(...ends), growing);
    this.#stale = true;
  }

  /** Positions by body and geom name [m] in a recorded state, as this engine computes them. */
  inspect(side, record) {
    const track = this.tracks[side];
    return this.#runtime.inspect(track ? track.qpos(Math.min(record, track.count - 1)) : this.#home);
  }

  tick(now) {
    this.#frame = requestAnimationFrame(this.tick);
    const elapsed = this.#lastTick === null ? 0 : (now - this.#lastTick) / 1000;
    this.#lastTick = now;
    if (this.clock.playing) this.#judge(elapsed);
    this.clock.advance(Math.min(elapsed, LONGEST_FRAME));
    if (this.#stale && !this.#asking) this.#pose();
    for (const side of SIDES) if (this.viewers[side].needsDraw) this.viewers[side].draw();
  }

  dispose() {
    cancelAnimationFrame(this.#frame);
    for (const side of SIDES) this.viewers[side].dispose();
    this.#shapes.dispose();
  }

  async #pose() {
    this.#asking = true;
    this.#stale = false;
    try {
      const requests = SIDES.map((side) => ({ side, qpos: this.#now(side) }));
      for (const { side, ...pose } of await this.#runtime.poses(requests)) this.viewers[side].show(pose);
      this.drawn += 1;
    } catch (error) {
      this.dispatchEvent(new CustomEvent("failed", { detail: error }));
    } finally {
      this.#asking = false;
    }
  }

  #now(side) {
    const track = this.tracks[side];
    if (track === null || track.count === 0) return this.#home;
    return sample(track, this.clock.time, this.#quaternions, this.#qpos[side]);
  }

  #link(side) {
    if (this.#linking) return;
    this.#linking = true;
    const other = side === "left" ? "right" : "left";
    this.viewers[other]?.follow(this.viewers[side]);
    this.#linking = false;
  }

  #judge(elapsed) {
    const next = this.viewers.left.quality + 1;
    if (this.fixed || next === QUALITIES.length || elapsed <= 0 || document.hidden) return;
    this.#slowness.total += Math.min(elapsed, LONGEST_FRAME);
    this.#slowness.count += 1;
    if (this.#slowness.count < JUDGED_FRAMES) return;
    if (this.#slowness.total / JUDGED_FRAMES > SLOW_FRAME) {
      for (const side of SIDES) this.viewers[side].setQuality(next);
    }
    this.#slowness = { total: 0, count: 0 };
  }
}

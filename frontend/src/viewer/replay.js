// Shows both sides in step, live or recorded: two viewers, one clock, one engine.

import { presetsOf } from "./cameras.js";
import { Clock } from "./clock.js";
import { quaternionAddresses, sample } from "./interpolate.js";
import { OverlaySet } from "./overlay-set.js";
import { FrameJudge, QUALITIES } from "./quality.js";
import { Shapes } from "./shapes.js";
import { otherSide, SIDES } from "./sides.js";
import { Viewer } from "./viewer.js";

/**
 * @import { Picture } from "./engine-host.js"
 * @import { Manifest } from "./manifest.d.ts"
 * @import { Runtime } from "./runtime.js"
 * @import { BySide, Side } from "./sides.js"
 * @import { Trace } from "./trace.js"
 * @import { Track } from "./view.js"
 */

/** The most that the clock advances in one frame [s], so that a tab that slept does not jump. */
const LONGEST_FRAME = 0.25;
/**
 * With software rendering, the least time between frames while a turn grows [ms]: where robots and browser share a
 * machine, drawing takes processor time from the robots.
 */
const LIVE_PAUSE = 80;

/** Events: "lost" and "failed" (the picture is gone, with the reason), "cameras" (a preset or the link has changed). */
export class Replay extends EventTarget {
  #runtime;
  #shapes;
  #quaternions;
  #qpos;
  #home;
  /** @type {BySide<Float64Array>} where a side without a recording stands */
  #rest;
  #exact = { left: false, right: false };
  #asking = false;
  #stale = true;
  /** @type {number | null} */
  #lastTick = null;
  #posedAt = -Infinity;
  #frame = 0;
  #judge = new FrameJudge();
  #fixed;

  /**
   * @param {Runtime} runtime with its scene loaded @param {Manifest} manifest of that scene @param {BySide<HTMLElement>} hosts
   * @param {{quality?: string | null, labels: BySide<string>}} options `quality`: a fixed name of QUALITIES, or null:
   *   the best that is smooth
   */
  constructor(runtime, manifest, hosts, { quality = null, labels }) {
    super();
    const { scene } = runtime;
    if (!scene) throw new Error("the runtime has no scene");
    this.#runtime = runtime;
    this.#shapes = new Shapes(scene, runtime.wood);
    this.#quaternions = quaternionAddresses(scene.joints);
    this.#home = Float64Array.from(manifest.home);
    this.#rest = { left: this.#home, right: this.#home };
    this.#qpos = { left: this.#home.slice(), right: this.#home.slice() };
    /** @type {BySide<Track | null>} */
    this.tracks = { left: null, right: null };
    this.clock = new Clock(manifest.view.rows_per_step / manifest.view.rate_hz);
    this.drawn = 0;
    /** The record drawn last. */
    this.drawnRecord = 0;
    this.linked = true;
    this.presets = presetsOf(manifest.cameras);
    /** The engine's cost [ms per frame], measured by the worker. */
    this.cost = 0;
    const level = levelOf(quality);
    this.#fixed = level !== null;
    this.viewers = this.#makeViewers(hosts, labels, level);
    this.overlays = new OverlaySet(this.viewers, this.#shapes);
    this.setPreset(this.presets[0].id);
    this.clock.addEventListener("change", () => (this.#stale = true));
    this.tick = this.tick.bind(this);
    this.#frame = requestAnimationFrame(this.tick);
  }

  get quality() {
    return QUALITIES[this.viewers.left.quality].name;
  }

  /** The name of the quality that is kept to, or null: the best that is smooth. */
  get fixedQuality() {
    return this.#fixed ? this.quality : null;
  }

  /** @param {string | null} name of QUALITIES; null: the best that is smooth */
  setQuality(name) {
    const level = levelOf(name);
    this.#fixed = level !== null;
    this.#judge = new FrameJudge();
    this.#drawWith(level ?? this.viewers.left.ownQuality);
  }

  /** The mean frame time [s] last measured while playing, or null. */
  get frameTime() {
    return this.#judge.mean;
  }

  /** @param {string} id @param {Side | null} only the side to change if cameras are not linked, else null */
  setPreset(id, only = null) {
    const preset = this.presets.find((each) => each.id === id) ?? this.presets[0];
    for (const side of SIDES) if (only === null || this.linked || side === only) this.viewers[side].setPreset(preset);
    this.dispatchEvent(new Event("cameras"));
  }

  /** Linked cameras move together, starting from the left one's view. @param {boolean} linked */
  setLinked(linked) {
    this.linked = linked;
    if (linked) this.#matchRight();
    this.dispatchEvent(new Event("cameras"));
  }

  #matchRight() {
    const preset = this.presets.find(({ id }) => id === this.viewers.left.preset);
    if (preset) this.viewers.right.setPreset(preset);
    else this.viewers.right.follow(this.viewers.left);
  }

  /** @param {string} name @param {boolean} on */
  setOverlay(name, on) {
    this.overlays.set(name, on);
    this.#stale = true;
  }

  refreshTheme() {
    for (const side of SIDES) {
      this.viewers[side].refreshTheme();
      this.overlays.rebuild(side); // ghosts and paths use colours of the theme
    }
    this.#stale = true;
  }

  /** Places the sides that have no recording. @param {BySide<Float64Array>} rest qpos */
  setRest(rest) {
    this.#rest = rest;
    this.#stale = true;
  }

  /**
   * Shows other recordings from their start. A side without one (null) stands where `setRest` says. The worker drops its
   * data of the recordings before.
   * @param {BySide<Track | null>} tracks @param {{growing?: boolean, keepTime?: boolean}} options
   */
  setTracks({ left, right }, { growing = false, keepTime = false } = {}) {
    for (const side of SIDES) this.#runtime.record(side, null).catch(() => {});
    this.tracks = { left, right };
    this.#exact = { left: false, right: false };
    this.overlays.setTraces({ left: null, right: null });
    if (!keepTime) this.clock.reset();
    this.grown(growing);
  }

  /** Updates the clock after the tracks have grown. @param {boolean} growing */
  grown(growing) {
    const ends = SIDES.map((side) => this.tracks[side]?.duration ?? 0);
    this.clock.extend(Math.max(...ends), growing);
    this.#stale = true;
  }

  /** Sets a side's exact recording, from which forces follow. @param {Side} side @param {ArrayBuffer} buffer `replay.bin` */
  async setRecording(side, buffer) {
    const track = this.tracks[side];
    await this.#runtime.record(side, buffer);
    if (this.tracks[side] === track) this.#exact[side] = true;
    this.#stale = true;
  }

  /** The sides whose exact recordings the worker has. */
  get exact() {
    return { ...this.#exact };
  }

  /** @param {BySide<Trace | null>} traces */
  setTraces(traces) {
    this.overlays.setTraces(traces);
    this.#stale = true;
  }

  /**
   * Positions by body and geom name [m] after a control step, computed by this engine.
   * @param {Side} side @param {number} step
   */
  inspect(side, step) {
    return this.#runtime.inspect(this.tracks[side]?.atStep(step) ?? this.#rest[side]);
  }

  /** Creates new canvases after the browser has lost the contexts. */
  revive() {
    for (const side of SIDES) this.viewers[side].revive();
    this.#stale = true;
  }

  /** Draws both sides, so that their canvases can be read in the same task of the event loop. */
  drawNow() {
    for (const side of SIDES) this.viewers[side].draw();
    return SIDES.map((side) => this.viewers[side].canvas);
  }

  /** @param {number} now [ms] */
  tick(now) {
    this.#frame = requestAnimationFrame(this.tick);
    const elapsed = this.#lastTick === null ? 0 : (now - this.#lastTick) / 1000;
    this.#lastTick = now;
    if (this.clock.playing && !document.hidden) this.#keepUp(elapsed);
    this.clock.advance(Math.min(elapsed, LONGEST_FRAME));
    if (this.#stale && !this.#asking && this.#mayPose(now)) this.#pose(now);
    for (const side of SIDES) if (this.viewers[side].needsDraw) this.viewers[side].draw();
  }

  dispose() {
    cancelAnimationFrame(this.#frame);
    this.clock.dispose();
    this.overlays.dispose();
    for (const side of SIDES) this.viewers[side].dispose();
    this.#shapes.dispose();
  }

  /** @param {BySide<HTMLElement>} hosts @param {BySide<string>} labels @param {number | null} quality */
  #makeViewers(hosts, labels, quality) {
    const make = (/** @type {Side} */ side, /** @type {number | null} */ level) => {
      const viewer = new Viewer(hosts[side], this.#shapes, { label: labels[side], quality: level });
      viewer.addEventListener("turned", () => this.#turned(side));
      viewer.addEventListener("lost", () => this.dispatchEvent(new Event("lost")));
      viewer.addEventListener("rebuilt", () => {
        this.overlays.rebuild(side);
        this.#stale = true;
      });
      return viewer;
    };
    const left = make("left", quality);
    return { left, right: make("right", left.quality) }; // both use the quality chosen for the left renderer
  }

  /** @param {number} now */
  #mayPose(now) {
    return !this.clock.growing || !this.viewers.left.software || now - this.#posedAt >= LIVE_PAUSE;
  }

  /** @param {number} now */
  async #pose(now) {
    this.#asking = true;
    this.#stale = false;
    this.#posedAt = now;
    const { record } = this.clock;
    try {
      const requests = SIDES.map((side) => this.#request(side));
      const { poses, cost } = await this.#runtime.poses(requests, this.overlays.extras);
      const [left, right] = poses; // in the order of the requests
      this.#show({ left, right }, cost);
      this.drawnRecord = record;
    } catch (error) {
      this.dispatchEvent(new CustomEvent("failed", { detail: error }));
    } finally {
      this.#asking = false;
    }
  }

  /** @param {BySide<Picture>} poses @param {number} cost [ms] */
  #show(poses, cost) {
    for (const side of SIDES) this.viewers[side].show(poses[side]);
    this.overlays.update(poses, this.clock.time);
    this.cost += 0.1 * (cost - this.cost);
    this.drawn += 1;
  }

  /** @param {Side} side */
  #request(side) {
    const track = this.tracks[side];
    const { time } = this.clock;
    if (track === null || track.count === 0) return { side, time, qpos: this.#rest[side] };
    return { side, time, qpos: sample(track, time, this.#quaternions, this.#qpos[side]) };
  }

  /** @param {Side} side */
  #turned(side) {
    if (this.linked) this.viewers[otherSide(side)].follow(this.viewers[side]);
    this.dispatchEvent(new Event("cameras"));
  }

  /** @param {number} elapsed [s] */
  #keepUp(elapsed) {
    const next = this.viewers.left.quality + 1;
    const slow = this.#judge.isTooSlow(elapsed);
    if (!slow || this.#fixed || next === QUALITIES.length) return;
    this.#drawWith(next);
  }

  /** @param {number} level place in QUALITIES */
  #drawWith(level) {
    for (const side of SIDES) if (this.viewers[side].quality !== level) this.viewers[side].setQuality(level);
  }
}

/** @param {string | null} name @returns {number | null} place in QUALITIES, null for any other name */
function levelOf(name) {
  const level = QUALITIES.findIndex((each) => each.name === name);
  return level < 0 ? null : level;
}

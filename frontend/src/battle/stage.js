// The two viewers of the page: loads engine and scene once, then shows whichever turn it is told to, live or recorded.

import { decodeStates, Track } from "../viewer/decoder.js";
import { Replay, SIDES } from "../viewer/replay.js";
import { Runtime } from "../viewer/runtime.js";
import { NoWebGL } from "../viewer/viewer.js";
import { explainError } from "./words.js";

const LOADING = "Loading the physics engine and the scene…";
const NO_WEBGL =
  "This browser cannot draw 3-D pictures (WebGL is off). Turn on hardware acceleration or open this page in another browser.";
const LOST = "The browser took the 3-D picture away, which happens when graphics memory runs out. Reload the page to get it back.";

export class Stage {
  #panels;
  #api;
  #addresses;
  #onReady;
  #quality;
  #recorded = new Map();
  #live = null;
  #shown = null;

  /**
   * @param {{left: import("./sides.js").SidePanel, right: import("./sides.js").SidePanel}} panels
   * @param {import("./api.js").Api} api
   * @param {{addresses: {workerUrl: string, wasmUrl: string}, quality: string | null, onReady: (stage: Stage) => void}}
   *   options
   */
  constructor(panels, api, { addresses, quality, onReady }) {
    this.#panels = panels;
    this.#api = api;
    this.#addresses = addresses;
    this.#onReady = onReady;
    this.#quality = quality;
    this.replay = null;
    this.manifest = null;
    this.runtime = null;
  }

  /** "3.14.0 recorded, 3.13.0 here" when they differ, else null. */
  get engineMismatch() {
    const recorded = this.manifest?.engine_version.replace(/^mujoco /, "");
    const here = this.runtime?.engineVersion;
    return recorded && here && recorded !== here ? { recorded, here } : null;
  }

  async load(robotId, sceneId) {
    this.#veil(LOADING, { working: true });
    try {
      this.runtime = new Runtime(this.#addresses);
      this.manifest = await this.#api.scene(robotId, sceneId);
      await this.runtime.load(this.manifest);
      const hosts = { left: this.#panels.left.screen, right: this.#panels.right.screen };
      this.replay = new Replay(this.runtime, this.manifest, hosts, this.#quality);
      this.replay.addEventListener("failed", ({ detail }) => this.#veil(`The physics engine stopped: ${detail.message}. Reload the page.`));
      this.replay.addEventListener("lost", () => this.#veil(LOST));
      this.#veil(null);
      this.#onReady(this);
    } catch (error) {
      this.#veil(whyNot(error));
    }
  }

  /** Shows a turn: its live frames while it runs, its recordings once it has settled. `null`: the scene at rest. */
  async show(turn, frames) {
    if (!this.replay) return;
    if (!turn) this.#rest();
    else if (turn.status === "completed" || turn.status === "failed") await this.#showRecorded(turn);
    else this.#showLive(turn, frames);
  }

  #rest() {
    if (this.#shown === null) return;
    this.#shown = null;
    this.replay.setTracks({ left: null, right: null });
  }

  /** Until the first rows of a turn are here, what was shown before stays: a follow-up turn begins where that ended. */
  #showLive(turn, frames) {
    const id = turn.turn_id;
    this.#recorded.delete(id);
    if (!frames || frames.left.length + frames.right.length === 0) return;
    if (this.#shown?.id !== id || this.#shown.recorded) {
      this.#shown = { id, recorded: false };
      this.#live = { left: this.#emptyTrack(), right: this.#emptyTrack() };
      this.replay.setTracks(this.#live, { growing: true });
      this.#autoplay();
    }
    for (const side of SIDES) this.#live[side].append(0, frames[side]);
    this.replay.grown(true);
  }

  /** Takes over from the live rows without a jump; otherwise plays from the start. */
  async #showRecorded(turn) {
    const id = turn.turn_id;
    const before = this.#shown;
    if (before?.id === id && before.recorded) return;
    this.#shown = { id, recorded: true };
    try {
      const tracks = await this.#tracksOf(turn);
      if (this.#shown?.id !== id) return;
      const wasLive = before?.id === id;
      this.replay.setTracks(tracks, { keepTime: wasLive });
      this.#veil(null);
      if (!wasLive) this.#autoplay();
    } catch (error) {
      if (this.#shown?.id !== id) return;
      this.#shown = null;
      this.#veil(`The recording could not be loaded. ${explainError(error)}`, { retry: true });
    }
  }

  async #tracksOf(turn) {
    if (!this.#recorded.has(turn.turn_id)) {
      const [left, right] = await Promise.all(SIDES.map((side) => this.#fetchTrack(turn, side)));
      this.#recorded.set(turn.turn_id, { left, right });
    }
    return this.#recorded.get(turn.turn_id);
  }

  /** A side that failed has no recording: it stands in the scene at rest, behind the words that say so. */
  async #fetchTrack(turn, side) {
    if (turn[side].status !== "completed") return null;
    return decodeStates(await this.#api.states(turn[side].episode_id), this.runtime.scene);
  }

  /** People who asked for less motion start the replay themselves. */
  #autoplay() {
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) this.replay.clock.play();
  }

  #emptyTrack() {
    return new Track(this.runtime.scene.nq);
  }

  #veil(text, options) {
    for (const side of SIDES) this.#panels[side].veil(text, options);
  }
}

function whyNot(error) {
  if (error instanceof NoWebGL) return NO_WEBGL;
  if (error.code) return `The scene could not be loaded. ${explainError(error)}`;
  return `The physics engine could not be started (${error.message}). Reload the page; if it stays, try another browser.`;
}

// The two viewers of the page: loads engine and scene once, then shows whichever turn it is told to, live or recorded.

import { gettext } from "../i18n.js";
import { judgeRecord } from "../viewer/judgement.js";
import { Replay, SIDES } from "../viewer/replay.js";
import { Runtime, RuntimeFailure } from "../viewer/runtime.js";
import { divergence } from "../viewer/trace.js";
import { decodeView, Track, viewFormatOf } from "../viewer/view.js";
import { maySucceedAgain, NoWebAssembly, whyNoPictures } from "./obstacles.js";
import { explainError } from "./words.js";

/** Turns whose recordings are kept, so that going between them is quick; older ones are fetched again. */
const KEPT_TURNS = 3;
/** What the server says of a recording that it no longer has: asking again is of no use. */
const GONE = "episode_expired";

/**
 * @typedef {object} Entry a turn whose recording is here
 * @property {{left: Track | null, right: Track | null}} tracks what is seen of it
 * @property {{traces: object, divergence: number | null} | null} insight once known
 * @property {{left: ArrayBuffer | null, right: ArrayBuffer | null} | null} buffers the exact recordings, after the vote
 * @property {object | null} checks see `checks`
 *
 * Events: "turn" (another turn, or another form of it, is shown), "insight" (`insight` or `checks` is there, or gone),
 * "exact" (`exactness` has changed).
 */
export class Stage extends EventTarget {
  #panels;
  #api;
  #addresses;
  #onReady;
  #quality;
  #recorded = new Map();
  #live = null;
  #shown = null;
  #place = null;
  #again = null;
  #format = null;
  #mayBeExact = false;

  /**
   * @param {{left: import("./sides.js").SidePanel, right: import("./sides.js").SidePanel}} panels
   * @param {import("./api.js").Api} api
   * @param {{addresses: {workerUrl: string, wasmUrl: string}, quality: string | null, onReady: (stage: Stage) => void}}
   *   options
   */
  constructor(panels, api, { addresses, quality, onReady }) {
    super();
    this.#panels = panels;
    this.#api = api;
    this.#addresses = addresses;
    this.#onReady = onReady;
    this.#quality = quality;
    this.replay = null;
    this.manifest = null;
    this.runtime = null;
    this.turn = null;
    /** {traces: {left, right}, divergence} of the recorded turn shown, once known */
    this.insight = null;
    /** Of the turn shown: its exact recordings come "later", with the vote; are "coming"; are "here"; or are "missing". */
    this.exactness = "later";
    /** {left, right} as `judgeRecord` answers, once asked for and done */
    this.checks = null;
  }

  /** "3.14.0 recorded, 3.13.0 here" when they differ, else null. */
  get engineMismatch() {
    const recorded = this.manifest?.engine_version.replace(/^mujoco /, "");
    const here = this.runtime?.engineVersion;
    return recorded && here && recorded !== here ? { recorded, here } : null;
  }

  async load(robotId, sceneId) {
    this.#place = { robotId, sceneId };
    this.#veil(gettext("Loading the physics engine and the scene…"), { working: true });
    try {
      if (typeof WebAssembly === "undefined") throw new NoWebAssembly();
      this.runtime = new Runtime(this.#addresses);
      this.manifest = await this.#api.scene(robotId, sceneId);
      await this.runtime.load(this.manifest);
      this.#format = viewFormatOf(this.manifest, this.runtime.scene.joints);
      this.#raise();
      this.#veil(null);
      this.#onReady(this);
    } catch (error) {
      this.dispose();
      this.#again = () => this.load(robotId, sceneId);
      this.#veil(whyNoPictures(error), { retry: maySucceedAgain(error) });
    }
  }

  /** What the button on a veil does: load again, draw again, fetch again. */
  retry() {
    const again = this.#again;
    this.#again = null;
    again?.();
  }

  /**
   * Shows a turn: its live frames while it runs, its recordings once it has settled. `null`: the scene at rest.
   * @param {import("./store.js").Frame[]} frames all that came
   * @param {{exact: boolean}} options whether exact recordings may be had: the battle has its vote
   */
  async show(turn, frames, { exact }) {
    if (!this.replay) return;
    this.turn = turn ?? null;
    this.#mayBeExact = exact;
    if (!turn) this.#rest();
    else if (turn.status === "completed" || turn.status === "failed") await this.#showRecorded(turn);
    else this.#showLive(turn, frames);
  }

  /** The control step that the last row of a frame belongs to; null before it is known how rows are written. */
  stepOf({ from, left }) {
    if (!this.manifest) return null;
    const { scale, rows_per_step } = this.manifest.view;
    return Math.floor((from + left.length / scale.length - 1) / rows_per_step);
  }

  /**
   * What is on the screen now, for whoever wants to go on from it; null when no turn is. `record`: the recorded state at
   * or before the clock, 0 is the start; `steps`: where each side ends, null while it runs or when it failed; `settled`:
   * its recordings are here and shown.
   */
  get moment() {
    if (!this.turn || !this.#shown || this.#shown.id !== this.turn.turn_id) return null;
    const { record, time } = this.replay.clock;
    const of = (name) => ({ left: this.turn.left[name], right: this.turn.right[name] });
    return { turnId: this.turn.turn_id, record, time, steps: of("steps"), episodes: of("episode_id"), settled: Boolean(this.#entryShown()) };
  }

  /** {left, right}: the exact recordings (`replay.bin`) of the turn shown, null while they are not here. */
  get buffers() {
    return this.#entryShown()?.buffers ?? null;
  }

  /** Repeats both sides from their start, and step by step, and says whether the record is what physics does. */
  async check() {
    const entry = this.#entryShown();
    if (!entry || this.engineMismatch) return null;
    if (!entry.buffers) {
      this.#shown.exactAsked = false; // it failed before
      await this.#addExact(this.turn, entry);
      if (!entry.buffers) return null;
    }
    const checks = {};
    for (const side of SIDES) {
      const buffer = entry.buffers[side];
      if (buffer) checks[side] = judgeRecord(await this.runtime.replayWhole(buffer), await this.runtime.rehearse(buffer));
    }
    entry.checks = checks;
    if (this.#entryShown() === entry) this.#setInsight(entry);
    return checks;
  }

  dispose() {
    this.replay?.dispose();
    this.runtime?.dispose();
    this.#recorded.clear();
    this.#shown = null;
    this.replay = null;
    this.runtime = null;
    this.#setInsight(null);
    this.#setExactness("later");
  }

  /** Makes the pictures; they need an engine with its scene. */
  #raise() {
    const hosts = { left: this.#panels.left.screen, right: this.#panels.right.screen };
    const labels = { left: gettext("Replay of the left robot"), right: gettext("Replay of the right robot") };
    this.replay = new Replay(this.runtime, this.manifest, hosts, { quality: this.#quality, labels });
    this.replay.addEventListener("failed", ({ detail }) => this.#stopped(detail));
    this.replay.addEventListener("lost", () => this.#lost());
  }

  #stopped(error) {
    const { robotId, sceneId } = this.#place;
    this.dispose();
    this.#again = () => this.load(robotId, sceneId);
    this.#veil(gettext("The physics engine stopped (%(reason)s). The recordings are kept.", { reason: error.message }), { retry: true });
  }

  #lost() {
    this.#again = () => {
      this.replay.revive();
      this.#veil(null);
    };
    const text = gettext("The browser took the 3-D picture away, which happens when graphics memory runs out. Nothing else is lost.");
    this.#veil(text, { retry: true });
  }

  #rest() {
    this.#recorded.clear();
    if (this.#shown === null) return;
    this.#shown = null;
    this.#setInsight(null);
    this.#setExactness("later");
    this.replay.setTracks({ left: null, right: null });
    this.dispatchEvent(new Event("turn"));
  }

  /** Until the first rows of a turn are here, what was shown before stays: a follow-up turn begins where that ended. */
  #showLive(turn, frames) {
    if (frames.length === 0) {
      if (this.#live?.id === turn.turn_id) this.#live = null; // it starts again
      return;
    }
    if (this.#live?.id !== turn.turn_id || this.#shown?.id !== turn.turn_id) this.#beginLive(turn);
    const { tracks } = this.#live;
    for (const { from, ...rows } of frames.slice(this.#live.taken)) for (const side of SIDES) tracks[side].put(from, rows[side]);
    this.#live.taken = frames.length;
    this.replay.grown(true);
  }

  #beginLive({ turn_id, step_s }) {
    this.#shown = { id: turn_id, form: LIVE };
    this.#live = { id: turn_id, taken: 0, tracks: { left: new Track(this.#format), right: new Track(this.#format) } };
    this.#setInsight(null);
    this.#setExactness("later");
    this.replay.setTracks(this.#live.tracks, { growing: true });
    this.replay.clock.pace = 1 / (this.manifest.control_hz * step_s);
    if (movesAlone()) this.replay.clock.follow();
    this.dispatchEvent(new Event("turn"));
  }

  async #showRecorded(turn) {
    const form = formOf(turn);
    if (this.#shown?.id !== turn.turn_id || this.#shown.form !== form) await this.#open(turn, form);
    else await this.#addExact(turn, this.#recorded.get(form));
  }

  /** Takes over from the live rows in place; otherwise plays from the start. */
  async #open(turn, form) {
    const before = this.#shown;
    const shown = { id: turn.turn_id, form };
    this.#shown = shown;
    try {
      const entry = await this.#entryOf(turn, form);
      if (this.#shown !== shown || !this.replay) return;
      const sameTurn = before?.id === turn.turn_id;
      this.replay.setTracks(entry.tracks, { keepTime: sameTurn });
      this.#veil(null);
      this.#setExactness(this.#mayBeExact ? "coming" : "later");
      this.#setInsight(entry.insight ? entry : null);
      if (!sameTurn && movesAlone()) this.replay.clock.play();
      this.dispatchEvent(new Event("turn"));
      await Promise.all([this.#addExact(turn, entry), this.#addInsight(turn, entry)]);
    } catch (error) {
      if (this.#shown !== shown || !("code" in error)) throw error;
      this.#shown = null;
      this.#again = () => this.show(this.turn, [], { exact: this.#mayBeExact });
      this.#veil(gettext("The recording could not be loaded. %(reason)s", { reason: explainError(error) }), { retry: error.code !== GONE });
    }
  }

  /** What it has is kept; the oldest turns' are let go. @returns {Promise<Entry>} */
  async #entryOf(turn, form) {
    if (!this.#recorded.has(form)) {
      const tracks = this.#liveTracksOf(turn) ?? (await this.#fetchTracks(turn));
      this.#recorded.set(form, { tracks, insight: null, buffers: null, checks: null });
      for (const key of [...this.#recorded.keys()].slice(0, -KEPT_TURNS)) this.#recorded.delete(key);
    }
    return this.#recorded.get(form);
  }

  #entryShown() {
    return (this.#shown && this.#recorded.get(this.#shown.form)) ?? null;
  }

  /** Marks, ways and curves come a moment after the pictures, which do without while they must. */
  async #addInsight(turn, entry) {
    try {
      if (!entry.insight) {
        const traces = {};
        for (const side of SIDES) traces[side] = entry.tracks[side] && (await this.runtime.trace(entry.tracks[side]));
        const { left, right } = traces;
        entry.insight = { traces, divergence: left && right ? divergence(left, right) : null };
      }
      if (this.#isShown(turn, entry)) this.#setInsight(entry);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error; // the recording itself plays on
    }
  }

  /** What forces, curves of actions and the visitor's own check need, once the battle has its vote. */
  async #addExact(turn, entry) {
    if (!entry || !this.#mayBeExact || this.#shown.exactAsked) return;
    this.#shown.exactAsked = true;
    this.#setExactness("coming");
    try {
      entry.buffers ??= await this.#fetchBuffers(turn);
      for (const side of SIDES) {
        if (entry.buffers[side] && this.#isShown(turn, entry)) await this.replay.setRecording(side, entry.buffers[side]);
      }
      if (this.#isShown(turn, entry)) this.#setExactness("here");
    } catch (error) {
      if (!("code" in error) && !(error instanceof RuntimeFailure)) throw error;
      if (this.#isShown(turn, entry)) this.#setExactness("missing"); // what is seen plays on
    }
  }

  #isShown(turn, entry) {
    return this.replay !== null && this.#shown?.id === turn.turn_id && this.#entryShown() === entry;
  }

  #setInsight(entry) {
    this.insight = entry?.insight ?? null;
    this.checks = entry?.checks ?? null;
    if (this.replay) this.replay.overlays.object = namedObject(this.turn?.instruction ?? "", this.manifest.objects);
    this.replay?.setTraces(this.insight?.traces ?? { left: null, right: null });
    this.dispatchEvent(new Event("insight"));
  }

  #setExactness(exactness) {
    if (exactness === this.exactness) return;
    this.exactness = exactness;
    this.dispatchEvent(new Event("exact"));
  }

  async #fetchBuffers(turn) {
    const fetchOf = (side) => (turn[side].status === "completed" ? this.#api.replay(turn[side].episode_id) : null);
    const [left, right] = await Promise.all(SIDES.map(fetchOf));
    return { left, right };
  }

  /** The rows that came live, if all of them did: then there is nothing to fetch. */
  #liveTracksOf(turn) {
    if (this.#live?.id !== turn.turn_id || turn.status !== "completed") return null;
    const { tracks } = this.#live;
    const steps = Math.max(turn.left.steps, turn.right.steps);
    return SIDES.every((side) => tracks[side].whole && tracks[side].steps === steps) ? tracks : null;
  }

  /** A side that failed has no recording: it stands in the scene at rest, behind the words that say so. */
  async #fetchTracks(turn) {
    const fetchOf = async (side) =>
      turn[side].status === "completed" ? decodeView(await this.#api.view(turn[side].episode_id), this.#format) : null;
    const [left, right] = await Promise.all(SIDES.map(fetchOf));
    return { left, right };
  }

  #veil(text, options) {
    for (const side of SIDES) this.#panels[side].veil(text, options);
  }
}

/** The form of a turn that runs. */
const LIVE = "live";

/** What of a turn is shown: which of its sides have a recording changes when the vote tells which of them failed. */
const formOf = ({ turn_id, left, right }) => [turn_id, left.status, right.status].join(" ");

/** People who asked for less motion start the replay themselves. */
function movesAlone() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** The first object that an instruction names, or null. */
function namedObject(instruction, objects) {
  const text = instruction.toLowerCase();
  const places = objects.map((name) => ({ name, at: text.indexOf(name.replaceAll("_", " ")) })).filter(({ at }) => at >= 0);
  return places.sort((one, other) => one.at - other.at)[0]?.name ?? null;
}

// The two viewers of the page: loads engine and scene once, then shows whichever turn it is told to, live or recorded.

import { gettext } from "../i18n.js";
import { decodeStates, Track } from "../viewer/decoder.js";
import { divergence, judgeRecord } from "../viewer/judgement.js";
import { Replay, SIDES } from "../viewer/replay.js";
import { Runtime, RuntimeFailure } from "../viewer/runtime.js";
import { maySucceedAgain, NoWebAssembly, whyNoPictures } from "./obstacles.js";
import { explainError } from "./words.js";

/** Turns whose recordings are kept, so that going between them is quick; older ones are fetched again. */
const KEPT_TURNS = 3;
/** What the server says of a recording that it no longer has: asking again is of no use. */
const GONE = "episode_expired";

/**
 * Events: "turn" (another turn, or another form of it, is shown), "insight" (`insight` is there, or gone),
 * "checked" (`checks` is there, or gone).
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
    /** {rehearsals: {left, right}, divergence} of the recorded turn shown, once known */
    this.insight = null;
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

  /** Shows a turn: its live frames while it runs, its recordings once it has settled. `null`: the scene at rest. */
  async show(turn, frames) {
    if (!this.replay) return;
    this.turn = turn ?? null;
    if (!turn) this.#rest();
    else if (turn.status === "completed" || turn.status === "failed") await this.#showRecorded(turn);
    else this.#showLive(turn, frames);
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

  /** {left, right}: `replay.bin` of the recorded turn shown, null while it is not here. */
  get buffers() {
    return this.#entryShown()?.buffers ?? null;
  }

  /** Repeats the whole episode of each side from its start and says whether the record is what physics does. */
  async check() {
    const entry = this.#entryShown();
    if (!entry?.buffers || !this.insight || this.engineMismatch) return null;
    const checks = {};
    for (const side of SIDES) {
      if (!entry.buffers[side]) continue;
      const whole = await this.runtime.replayWhole(entry.buffers[side]);
      checks[side] = judgeRecord(whole, entry.insight.rehearsals[side]);
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
    this.replay.forget();
    this.dispatchEvent(new Event("turn"));
  }

  /** Until the first rows of a turn are here, what was shown before stays: a follow-up turn begins where that ended. */
  #showLive(turn, frames) {
    const id = turn.turn_id;
    this.#recorded.delete(id);
    if (!frames || frames.left.length + frames.right.length === 0) return;
    if (this.#shown?.id !== id || this.#shown.recorded) {
      this.#shown = { id, recorded: false };
      this.#live = { left: this.#emptyTrack(), right: this.#emptyTrack() };
      this.#setInsight(null);
      this.replay.setTracks(this.#live, { growing: true });
      if (movesAlone()) this.replay.clock.follow();
      this.dispatchEvent(new Event("turn"));
    }
    for (const side of SIDES) this.#live[side].append(frames[side]);
    this.replay.grown(true);
  }

  /** Takes over from the live rows without a jump; otherwise plays from the start. */
  async #showRecorded(turn) {
    const id = turn.turn_id;
    const before = this.#shown;
    if (before?.id === id && before.recorded) return;
    this.#shown = { id, recorded: true };
    try {
      const entry = await this.#entryOf(turn);
      if (this.#shown?.id !== id || !this.replay) return;
      const wasLive = before?.id === id;
      this.replay.setTracks(entry.tracks, { keepTime: wasLive });
      this.#veil(null);
      this.#setInsight(entry.insight ? entry : null);
      if (!wasLive && movesAlone()) this.replay.clock.play();
      this.dispatchEvent(new Event("turn"));
      await this.#addPhysics(turn, entry);
    } catch (error) {
      if (this.#shown?.id !== id || !("code" in error)) throw error;
      this.#shown = null;
      this.#again = () => this.show(this.turn);
      this.#veil(gettext("The recording could not be loaded. %(reason)s", { reason: explainError(error) }), { retry: error.code !== GONE });
    }
  }

  /** {tracks, buffers, insight, checks} of a turn; what it has is kept, the oldest turns' are let go. */
  async #entryOf(turn) {
    if (!this.#recorded.has(turn.turn_id)) {
      const [left, right] = await Promise.all(SIDES.map((side) => this.#fetchTrack(turn, side)));
      this.#recorded.set(turn.turn_id, { tracks: { left, right }, buffers: null, insight: null, checks: null });
      for (const id of [...this.#recorded.keys()].slice(0, -KEPT_TURNS)) this.#recorded.delete(id);
    }
    return this.#recorded.get(turn.turn_id);
  }

  #entryShown() {
    return this.#shown?.recorded ? this.#recorded.get(this.#shown.id) : null;
  }

  /** Physics between the records, marks and plots come a moment after the pictures, which do without while they must. */
  async #addPhysics(turn, entry) {
    try {
      await this.#rehearse(turn, entry);
    } catch (error) {
      if (!("code" in error) && !(error instanceof RuntimeFailure)) throw error;
      if (this.#isShown(turn, entry)) this.#setInsight(null); // the recording itself plays on
    }
  }

  async #rehearse(turn, entry) {
    entry.buffers ??= await this.#fetchBuffers(turn);
    const played = SIDES.filter((side) => entry.buffers[side] && this.#isShown(turn, entry));
    for (const side of played) await this.replay.setRecording(side, entry.buffers[side]);
    if (!entry.insight) {
      const rehearsals = {};
      for (const side of SIDES) rehearsals[side] = entry.buffers[side] && this.runtime && (await this.runtime.rehearse(entry.buffers[side]));
      const { left, right } = rehearsals;
      entry.insight = { rehearsals, divergence: left && right ? divergence(left, right) : null };
    }
    if (this.#isShown(turn, entry)) this.#setInsight(entry);
  }

  #isShown(turn, entry) {
    return this.replay !== null && this.#shown?.id === turn.turn_id && this.#recorded.get(turn.turn_id) === entry;
  }

  #setInsight(entry) {
    this.insight = entry?.insight ?? null;
    this.checks = entry?.checks ?? null;
    if (this.replay) this.replay.overlays.object = namedObject(this.turn?.instruction ?? "", this.manifest.objects);
    this.replay?.setRehearsals(this.insight?.rehearsals ?? { left: null, right: null });
    this.dispatchEvent(new Event("insight"));
  }

  async #fetchBuffers(turn) {
    const fetchOf = (side) => (turn[side].status === "completed" ? this.#api.replay(turn[side].episode_id) : null);
    const [left, right] = await Promise.all(SIDES.map(fetchOf));
    return { left, right };
  }

  /** A side that failed has no recording: it stands in the scene at rest, behind the words that say so. */
  async #fetchTrack(turn, side) {
    if (turn[side].status !== "completed") return null;
    return decodeStates(await this.#api.states(turn[side].episode_id), this.runtime.scene);
  }

  #emptyTrack() {
    return new Track(this.runtime.scene.nq, 1 / this.manifest.control_hz);
  }

  #veil(text, options) {
    for (const side of SIDES) this.#panels[side].veil(text, options);
  }
}

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

// The two viewers of the page: loads engine and scene once, then shows the requested turn, live or recorded.

import { ApiError } from "../core/api.js";
import { gettext } from "../core/i18n.js";
import { wasStopped } from "../core/starts.js";
import { explainError } from "../core/words.js";
import { Replay } from "../viewer/replay.js";
import { Runtime, RuntimeFailure } from "../viewer/runtime.js";
import { SIDES } from "../viewer/sides.js";
import { divergence } from "../viewer/trace.js";
import { verifyRecording } from "../viewer/verification.js";
import { decodeView, Track, viewFormatOf } from "../viewer/view.js";
import { groundOf, nameOfGround, Starts } from "./standing.js";
import { maySucceedAgain, NoWebAssembly, whyNoPictures } from "./viewer-errors.js";

/** The number of turns whose recordings are cached; older ones are fetched again. */
const KEPT_TURNS = 3;
/** The server's codes for a recording that it no longer has: a retry is useless. */
const GONE = "episode_expired";

/**
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @import { Manifest } from "../viewer/manifest.d.ts"
 * @import { BySide, Side } from "../viewer/sides.js"
 * @import { Trace } from "../viewer/trace.js"
 * @import { Verification } from "../viewer/verification.js"
 * @import { ViewFormat } from "../viewer/view.js"
 * @import { RobotApi } from "./api.js"
 * @import { Frame } from "./frames.js"
 * @import { SidePanel } from "./sides.js"
 * @import { Ground } from "./standing.js"
 */

/**
 * @typedef {{robotId: string, sceneId: string}} Place
 * @typedef {{traces: BySide<Trace | null>, divergence: number | null}} Insight
 * @typedef {"later" | "coming" | "here" | "missing"} Exactness of a turn's exact recordings: they come later, with the vote; ...
 *
 * @typedef {object} Entry a turn whose recording is here
 * @property {BySide<Track | null>} tracks its visible recordings
 * @property {Insight | null} insight once known
 * @property {BySide<ArrayBuffer | null> | null} buffers the exact recordings, after the vote
 * @property {Partial<BySide<Verification>> | null} checks results, once the visitor has run the check
 *
 * @typedef {object} Moment what is on the screen
 * @property {string} turnId
 * @property {number} record the recorded state at or before the clock, 0 is the start
 * @property {number} time [s]
 * @property {BySide<number | null>} steps where each side ends, null while it runs or when it failed
 * @property {BySide<string>} episodes
 * @property {boolean} settled its recordings are here and shown
 *
 * Events: "ready" (the scene is drawn), "turn" (another turn or another form of it is shown),
 * "insight" (`insight` or `checks` has changed), "exact" (`exactness` has changed).
 */
export class Stage extends EventTarget {
  #panels;
  #api;
  #place;
  #addresses;
  #quality;
  /** @type {Map<string, Entry>} */
  #recorded = new Map();
  /** @type {{id: string, taken: number, tracks: BySide<Track>} | null} */
  #live = null;
  /** @type {{id: string, form: string, exactAsked?: boolean} | null} */
  #shown = null;
  /** @type {(() => void) | null} */
  #again = null;
  /** @type {ViewFormat | null} */
  #format = null;
  #mayBeExact = false;
  #starts;
  /** @type {string | null} the name of the place where sides without a recording stand; `#grounded`: it is known */
  #ground = null;
  #grounded = false;
  /** @type {Replay | null} */
  replay = null;
  /** @type {Manifest | null} */
  manifest = null;
  /** @type {Runtime | null} */
  runtime = null;
  /** @type {BattleJson | null} */
  battle = null;
  /** @type {TurnJson | null} */
  turn = null;
  /** @type {Insight | null} of the recorded turn shown */
  insight = null;
  /** @type {Exactness} of the turn shown */
  exactness = "later";
  /** @type {Entry["checks"]} */
  checks = null;

  /**
   * @param {BySide<SidePanel>} panels @param {RobotApi} api
   * @param {{place: Place, addresses: import("../viewer/runtime.js").Addresses, quality: string | null}} options
   */
  constructor(panels, api, { place, addresses, quality }) {
    super();
    this.#panels = panels;
    this.#api = api;
    this.#place = place;
    this.#addresses = addresses;
    this.#quality = quality;
    this.#starts = new Starts(api);
  }

  /** "3.14.0 recorded, 3.13.0 here" when they differ, else null. */
  get engineMismatch() {
    const recorded = this.manifest?.engine_version.replace(/^mujoco /, "");
    const here = this.runtime?.engineVersion;
    return recorded && here && recorded !== here ? { recorded, here } : null;
  }

  async load() {
    const { robotId, sceneId } = this.#place;
    this.#veil(gettext("Loading the physics engine and the scene…"), { working: true });
    try {
      if (typeof WebAssembly === "undefined") throw new NoWebAssembly();
      const runtime = new Runtime(this.#addresses, (share) => this.#sayLoading(share));
      this.runtime = runtime;
      const manifest = await this.#api.scene(robotId, sceneId);
      this.manifest = manifest;
      const scene = await runtime.load(manifest);
      this.#format = viewFormatOf(manifest, scene.joints);
      this.replay = this.#makeReplay(runtime, manifest);
      this.dispatchEvent(new Event("ready"));
    } catch (error) {
      this.dispose();
      this.#again = () => this.load();
      this.#veil(whyNoPictures(error), { retry: maySucceedAgain(error) });
    }
  }

  /** @param {number} share of the bytes that are here */
  #sayLoading(share) {
    if (this.replay) return;
    const done = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" }).format(Math.floor(100 * share) / 100);
    const text = share < 1 ? gettext("Loading the physics engine and the scene: %(done)s", { done }) : gettext("Setting up the scene…");
    this.#veil(text, { working: true });
  }

  /** The action of the button on a veil: load, draw or fetch again. */
  retry() {
    const again = this.#again;
    this.#again = null;
    again?.();
  }

  /** The things that the seed of a battle left out; null where that cannot be told. @param {string} battleId */
  async leftOut(battleId) {
    return (await this.#starts.want(battleId))?.left_out ?? null;
  }

  /**
   * Shows a turn: its live frames while it runs, its recordings once it has settled. `undefined` shows what the battle
   * begins with.
   * @param {BattleJson} battle @param {TurnJson | undefined} turn @param {Frame[]} frames all that have arrived
   */
  async show(battle, turn, frames) {
    const ground = groundOf(battle, turn);
    // While the engine loads. A turn that is recorded has its own start, and strangers see no other.
    if (ground === null && turn?.status !== "completed") this.#starts.want(battle.battle_id);
    if (!this.replay) return;
    this.battle = battle;
    this.turn = turn ?? null;
    this.#mayBeExact = Boolean(battle.vote); // whether exact recordings may be had
    if (turn?.status !== "completed") this.#stand(battle, ground);
    if (!turn) this.#rest();
    else if (turn.status === "completed" || turn.status === "failed") await this.#showRecorded(turn);
    else this.#showLive(turn, frames);
  }

  /**
   * The control step of the last row of a frame; null before the format of rows is known.
   * @param {Frame} frame
   */
  stepOf({ from, left }) {
    if (!this.manifest) return null;
    const { scale, rows_per_step } = this.manifest.view;
    return Math.floor((from + left.length / scale.length - 1) / rows_per_step);
  }

  /** @returns {Moment | null} null when no turn is on the screen */
  get moment() {
    const { turn, replay } = this;
    if (!turn || !replay || this.#shown?.id !== turn.turn_id) return null;
    const { record, time } = replay.clock;
    const { left, right } = turn;
    return {
      turnId: turn.turn_id,
      record,
      time,
      steps: { left: left.steps, right: right.steps },
      episodes: { left: left.episode_id, right: right.episode_id },
      settled: Boolean(this.#entryShown()),
    };
  }

  /** {left, right}: the exact recordings (`replay.bin`) of the current turn, null until they are loaded. */
  get buffers() {
    return this.#entryShown()?.buffers ?? null;
  }

  /** Simulates both sides from their start and step by step, and reports whether the records agree. */
  async check() {
    const entry = this.#entryShown();
    const { runtime } = this;
    if (!entry || !runtime || this.engineMismatch) return;
    if (!entry.buffers && this.turn && this.#shown) {
      this.#shown.exactAsked = false; // it failed before
      await this.#addExact(this.turn, entry);
    }
    if (!entry.buffers) return;
    /** @type {NonNullable<Entry["checks"]>} */
    const checks = {};
    for (const side of SIDES) {
      const buffer = entry.buffers[side];
      if (buffer) checks[side] = verifyRecording(await runtime.resimulateEpisode(buffer), await runtime.resimulateSteps(buffer));
    }
    entry.checks = checks;
    if (this.#entryShown() === entry) this.#setInsight(entry);
  }

  dispose() {
    this.replay?.dispose();
    this.runtime?.dispose();
    this.#recorded.clear();
    this.#shown = null;
    this.#ground = null;
    this.replay = null;
    this.runtime = null;
    this.#setInsight(null);
    this.#setExactness("later");
  }

  /** @param {Runtime} runtime with its scene @param {Manifest} manifest */
  #makeReplay(runtime, manifest) {
    const hosts = { left: this.#panels.left.screen, right: this.#panels.right.screen };
    const labels = { left: gettext("Replay of the left robot"), right: gettext("Replay of the right robot") };
    const replay = new Replay(runtime, manifest, hosts, { quality: this.#quality, labels });
    replay.addEventListener("failed", (event) => this.#stopped(/** @type {CustomEvent<Error>} */ (event).detail));
    replay.addEventListener("lost", () => this.#lost());
    return replay;
  }

  /** @param {Error} error */
  #stopped(error) {
    this.dispose();
    this.#again = () => this.load();
    this.#veil(gettext("The physics engine stopped (%(reason)s). The recordings are kept.", { reason: error.message }), { retry: true });
  }

  #lost() {
    this.#again = () => {
      this.replay?.revive();
      this.#veil(null);
    };
    const text = gettext("The browser closed the 3-D view, which happens when graphics memory runs out. Nothing else is lost.");
    this.#veil(text, { retry: true });
  }

  /**
   * Places sides that have no recording where they stand before the turn. Nothing is shown until that is known, since
   * another scene would be a false one.
   * @param {BattleJson} battle @param {Ground | null} ground
   */
  async #stand(battle, ground) {
    const name = nameOfGround(battle, ground);
    if (name === this.#ground) return;
    this.#ground = name;
    this.#grounded = false;
    if (!this.#shown || !this.turn) this.#veil(gettext("Setting up the scene…"), { working: true });
    try {
      const rest = await (ground ? this.#endOf(ground) : this.#startOf(battle));
      if (this.#ground !== name) return;
      if (rest) this.replay?.setRest(rest);
      this.#grounded = true;
      this.#veil(null);
    } catch (error) {
      if (this.#ground !== name || error instanceof RuntimeFailure) return; // the stage was closed
      this.#notLoaded(error);
    }
  }

  /** @param {BattleJson} battle */
  #startOf({ battle_id }) {
    return this.#format ? this.#starts.qpos(battle_id, this.#format) : null;
  }

  /** @param {Ground} ground @returns {Promise<BySide<Float64Array> | null>} */
  async #endOf({ turn, record }) {
    const { left, right } = (await this.#entryOf(turn, formOf(turn))).tracks;
    if (!left || !right) return null;
    const at = (/** @type {Track} */ track) => track.atStep(record ?? track.steps);
    return { left: at(left), right: at(right) };
  }

  #rest() {
    this.#recorded.clear();
    if (this.#shown === null) return;
    this.#shown = null;
    this.#setInsight(null);
    this.#setExactness("later");
    this.replay?.setTracks({ left: null, right: null });
    this.dispatchEvent(new Event("turn"));
  }

  /**
   * The previous turn stays visible until the first rows arrive, since a follow-up turn begins where it ended.
   * @param {TurnJson} turn @param {Frame[]} frames
   */
  #showLive(turn, frames) {
    const { replay, manifest } = this;
    if (!replay || !manifest || !this.#format) return;
    const current = this.#live?.id === turn.turn_id ? this.#live : null;
    if (frames.length === 0) {
      if (current) this.#live = null; // the turn was restarted
      return;
    }
    const live = current && this.#shown?.id === turn.turn_id ? current : this.#beginLive(turn, replay, manifest, this.#format);
    for (const { from, ...rows } of frames.slice(live.taken)) for (const side of SIDES) live.tracks[side].put(from, rows[side]);
    live.taken = frames.length;
    replay.grown(true);
  }

  /** @param {TurnJson} turn @param {Replay} replay @param {Manifest} manifest @param {ViewFormat} format */
  #beginLive({ turn_id, step_s }, replay, manifest, format) {
    this.#veil(null);
    const live = { id: turn_id, taken: 0, tracks: { left: new Track(format), right: new Track(format) } };
    this.#shown = { id: turn_id, form: LIVE };
    this.#live = live;
    this.#setInsight(null);
    this.#setExactness("later");
    replay.setTracks(live.tracks, { growing: true });
    replay.clock.pace = manifest.view.rows_per_step / (manifest.view.rate_hz * step_s);
    if (movesAlone()) replay.clock.follow();
    this.dispatchEvent(new Event("turn"));
    return live;
  }

  /** @param {TurnJson} turn */
  async #showRecorded(turn) {
    const form = formOf(turn);
    if (this.#shown?.id !== turn.turn_id || this.#shown.form !== form) await this.#open(turn, form);
    else await this.#addExact(turn, this.#recorded.get(form));
  }

  /** Replaces live rows without a break; otherwise plays from the start. @param {TurnJson} turn @param {string} form */
  async #open(turn, form) {
    const before = this.#shown;
    const shown = { id: turn.turn_id, form };
    this.#shown = shown;
    try {
      const entry = await this.#entryOf(turn, form);
      const { replay } = this;
      if (this.#shown !== shown || !replay) return;
      const sameTurn = before?.id === turn.turn_id;
      replay.setTracks(entry.tracks, { keepTime: sameTurn });
      if (this.#grounded || SIDES.some((side) => entry.tracks[side])) this.#veil(null);
      this.#setExactness(this.#mayBeExact ? "coming" : "later");
      this.#setInsight(entry.insight ? entry : null);
      if (!sameTurn && this.#isStopped(before)) replay.clock.seek(replay.clock.duration);
      else if (!sameTurn && movesAlone()) replay.clock.play();
      this.dispatchEvent(new Event("turn"));
      await Promise.all([this.#addExact(turn, entry), this.#addInsight(turn, entry)]);
    } catch (error) {
      if (this.#shown !== shown) return;
      this.#shown = null;
      this.#notLoaded(error);
    }
  }

  /** Whether the visitor has stopped the turn that was shown. @param {{id: string} | null} shown */
  #isStopped(shown) {
    return Boolean(this.battle?.turns.some((turn) => turn.turn_id === shown?.id && wasStopped(turn)));
  }

  /** Offers to fetch a recording again. @param {unknown} error */
  #notLoaded(error) {
    if (!(error instanceof ApiError)) throw error;
    this.#again = () => {
      this.#ground = null;
      if (this.battle) this.show(this.battle, this.turn ?? undefined, []);
    };
    this.#veil(gettext("The recording could not be loaded. %(reason)s", { reason: explainError(error) }), { retry: error.code !== GONE });
  }

  /**
   * Fetches missing recordings, and drops those of the oldest turns.
   * @param {TurnJson} turn @param {string} form @returns {Promise<Entry>}
   */
  async #entryOf(turn, form) {
    const kept = this.#recorded.get(form);
    if (kept) return kept;
    const tracks = this.#liveTracksOf(turn) ?? (await this.#fetchTracks(turn));
    const entry = { tracks, insight: null, buffers: null, checks: null };
    this.#recorded.set(form, entry);
    for (const key of [...this.#recorded.keys()].slice(0, -KEPT_TURNS)) this.#recorded.delete(key);
    return entry;
  }

  #entryShown() {
    return (this.#shown && this.#recorded.get(this.#shown.form)) ?? null;
  }

  /**
   * Computes marks, paths and curves after the first frames, which are drawn without them.
   * @param {TurnJson} turn @param {Entry} entry
   */
  async #addInsight(turn, entry) {
    try {
      if (!entry.insight) {
        const [left, right] = [await this.#trace(entry.tracks.left), await this.#trace(entry.tracks.right)];
        entry.insight = { traces: { left, right }, divergence: left && right ? divergence(left, right) : null };
      }
      if (this.#isShown(turn, entry)) this.#setInsight(entry);
    } catch (error) {
      if (!(error instanceof RuntimeFailure)) throw error; // the recording still plays
    }
  }

  /** @param {Track | null} track @returns {Promise<Trace | null>} */
  async #trace(track) {
    if (!this.runtime) throw new RuntimeFailure("closed");
    return track && this.runtime.trace(track);
  }

  /**
   * Fetches the data for forces, curves of actions and the visitor's own check, once the battle has its vote.
   * @param {TurnJson} turn @param {Entry | undefined} entry
   */
  async #addExact(turn, entry) {
    if (!entry || !this.#shown || !this.#mayBeExact || this.#shown.exactAsked) return;
    this.#shown.exactAsked = true;
    this.#setExactness("coming");
    try {
      entry.buffers ??= await this.#fetchBuffers(turn);
      for (const side of SIDES) {
        const buffer = entry.buffers[side];
        if (buffer && this.#isShown(turn, entry)) await this.replay?.setRecording(side, buffer);
      }
      if (this.#isShown(turn, entry)) this.#setExactness("here");
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof RuntimeFailure)) throw error;
      if (this.#isShown(turn, entry)) this.#setExactness("missing"); // the visible recording still plays
    }
  }

  /** @param {TurnJson} turn @param {Entry} entry */
  #isShown(turn, entry) {
    return this.replay !== null && this.#shown?.id === turn.turn_id && this.#entryShown() === entry;
  }

  /** @param {Entry | null} entry */
  #setInsight(entry) {
    this.insight = entry?.insight ?? null;
    this.checks = entry?.checks ?? null;
    if (this.replay) this.replay.overlays.object = namedObject(this.turn?.instruction ?? "", this.manifest?.objects ?? []);
    this.replay?.setTraces(this.insight?.traces ?? { left: null, right: null });
    this.dispatchEvent(new Event("insight"));
  }

  /** @param {Exactness} exactness */
  #setExactness(exactness) {
    if (exactness === this.exactness) return;
    this.exactness = exactness;
    this.dispatchEvent(new Event("exact"));
  }

  /** @param {TurnJson} turn */
  #fetchBuffers(turn) {
    return bothSides((side) => (turn[side].status === "completed" ? this.#api.replay(turn[side].episode_id) : null));
  }

  /** The live rows, if none was missed: then nothing needs to be fetched. @param {TurnJson} turn */
  #liveTracksOf(turn) {
    if (this.#live?.id !== turn.turn_id || turn.status !== "completed") return null;
    const { tracks } = this.#live;
    const steps = Math.max(turn.left.steps ?? 0, turn.right.steps ?? 0);
    return SIDES.every((side) => tracks[side].whole && tracks[side].steps === steps) ? tracks : null;
  }

  /**
   * A side that failed has no recording: it shows the scene at rest behind an explanation.
   * @param {TurnJson} turn
   */
  #fetchTracks(turn) {
    const format = this.#format;
    if (!format) throw new RuntimeFailure("closed");
    return bothSides(async (side) =>
      turn[side].status === "completed" ? decodeView(await this.#api.view(turn[side].episode_id), format) : null,
    );
  }

  /** @param {string | null} text @param {{working?: boolean, retry?: boolean}} [options] */
  #veil(text, options) {
    for (const side of SIDES) this.#panels[side].veil(text, options);
  }
}

/** @template T @param {(side: Side) => T} of @returns {Promise<BySide<Awaited<T>>>} */
async function bothSides(of) {
  const [left, right] = await Promise.all([of("left"), of("right")]);
  return { left, right };
}

/** The form of a running turn. */
const LIVE = "live";

/**
 * The form in which a turn is shown. The sides that have a recording change when the vote reveals which one failed.
 * @param {TurnJson} turn
 */
const formOf = ({ turn_id, left, right }) => [turn_id, left.status, right.status].join(" ");

/** Whether the replay starts by itself: not for visitors who prefer reduced motion. */
function movesAlone() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** The first object that an instruction names, or null. @param {string} instruction @param {string[]} objects */
function namedObject(instruction, objects) {
  const text = instruction.toLowerCase();
  const places = objects.map((name) => ({ name, at: text.indexOf(name.replaceAll("_", " ")) })).filter(({ at }) => at >= 0);
  return places.sort((one, other) => one.at - other.at)[0]?.name ?? null;
}

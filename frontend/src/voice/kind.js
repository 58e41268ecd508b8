// Voice agents as a kind of battle: two calls one after the other, then both transcripts side by side.

import { part } from "../core/dom.js";
import { nameOf } from "../core/phase.js";
import { explainFailure } from "../core/words.js";
import { Desk } from "./desk.js";
import { showLines } from "./lines.js";
import { renderOutcomes } from "./outcome.js";
import { AGENT_NAMES, WORDS } from "./words.js";

/**
 * @import { BattleView, Kind, ViewHost } from "../core/kind.d.ts"
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @import { SaidLine, VoiceApi } from "./api.js"
 * @typedef {"left" | "right"} Side
 * @typedef {{lines: SaidLine[], audio: {caller: string, agent: string} | null}} Told
 * @typedef {{first: number, count: number}} Lines
 */

const SIDES = /** @type {const} */ (["left", "right"]);
const LABELS = /** @type {const} */ ({ left: "a", right: "b" });
/** From a transcript that could not be fetched to the next try [ms]. */
const RETRY_AFTER = 3000;

/** @implements {Kind} */
export class VoiceKind {
  words = WORDS;
  chunkType = "rollout.frames";
  #api;

  /** @param {VoiceApi} api @param {DOMStringMap} page */
  constructor(api, { category, scenario }) {
    this.#api = api;
    this.setting = { category_id: category, scenario_id: scenario };
  }

  /** The transcripts are fetched whole: of chunks only the number counts. @param {{turn_id: string}} message @returns {Lines} */
  readChunk(message) {
    const { from_chunk, left } = /** @type {{from_chunk: unknown, left: unknown}} */ (/** @type {unknown} */ (message));
    if (typeof from_chunk !== "number" || !Array.isArray(left)) throw new TypeError("a chunk of calls has a number and lines");
    return { first: from_chunk, count: left.length };
  }

  sayFork() {
    return "";
  }

  /** @param {HTMLElement} root @param {ViewHost} host */
  createView(root, host) {
    return new CallsView(root, this.#api, host);
  }
}

/** @implements {BattleView} */
class CallsView extends EventTarget {
  canShow = true;
  /** @type {{turnId: string, settled: boolean} | null} */
  moment = null;
  /** @type {import("../core/shortcuts.js").Shortcut[]} */
  shortcuts = [];
  #root;
  #api;
  /** @type {Desk | null} */
  #desk = null;
  /** Transcripts that were fetched, by turn and whether the names were known: null while they come. @type {Map<string, Record<Side, Told> | null>} */
  #fetched = new Map();
  #shown = "";
  /** @type {(() => void) | null} */
  #again = null;

  /** @param {HTMLElement} root @param {VoiceApi} api @param {ViewHost} host */
  constructor(root, api, host) {
    super();
    this.#root = root;
    this.#api = api;
    if ("shared" in root.dataset || !root.querySelector("[data-part=desk]")) return;
    const name = root.dataset.scenarioName ?? "";
    this.#desk = new Desk(root, api, () => host.startTurn((battleId) => api.sendInstruction(battleId, name, "continue", 1)));
  }

  load() {
    this.dispatchEvent(new Event("ready"));
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn */
  render(battle, turn) {
    this.#desk?.show(battle.battle_id, battle.status === "ongoing" && !turn);
    for (const side of SIDES) {
      const root = this.#side(side);
      root.hidden = turn === undefined;
      const name = battle.vote ? nameOf(side === "left" ? battle.left_model : battle.right_model) : null;
      part(root, "name").textContent = name ? `${AGENT_NAMES[LABELS[side]]}: ${name}` : AGENT_NAMES[LABELS[side]];
    }
    renderOutcomes(part(this.#root, "verdict"), battle);
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn */
  show(battle, turn) {
    this.#again = () => this.show(battle, turn);
    const key = `${turn?.turn_id} ${battle.vote !== null}`;
    const told = turn?.status === "completed" ? this.#told(turn, key) : null;
    for (const side of SIDES) {
      part(this.#side(side), "failure").textContent = turn?.status === "failed" ? explainFailure(turn[side].error) : "";
      if (told && this.#shown !== key) this.#draw(side, told[side]);
    }
    if (told) this.#shown = key;
    this.#note(turn, told !== null);
  }

  renderProgress() {}

  /** @param {Lines} lines */
  stepOf({ first, count }) {
    return first + count - 1;
  }

  refreshTheme() {}

  /** @param {Side} side @returns {HTMLElement} */
  #side(side) {
    return /** @type {HTMLElement} */ (this.#root.querySelector(`.transcript[data-side=${side}]`));
  }

  /** @param {Side} side @param {Told} told */
  #draw(side, { lines, audio }) {
    const root = this.#side(side);
    showLines(part(root, "said"), lines, AGENT_NAMES[LABELS[side]]);
    part(root, "recordings").hidden = audio === null;
    if (!audio) return;
    part(root, "caller-audio", HTMLAudioElement).src = audio.caller;
    part(root, "agent-audio", HTMLAudioElement).src = audio.agent;
  }

  /** What was said on both calls of a completed turn; null while it comes. @param {TurnJson} turn @param {string} key */
  #told(turn, key) {
    const known = this.#fetched.get(key);
    if (known === undefined) this.#fetch(turn, key);
    return known ?? null;
  }

  /** @param {TurnJson} turn @param {string} key */
  async #fetch({ left, right }, key) {
    this.#fetched.set(key, null);
    try {
      const [one, other] = await Promise.all([left, right].map(({ episode_id }) => this.#api.said(episode_id)));
      this.#fetched.set(key, { left: one, right: other });
      this.#again?.();
    } catch {
      setTimeout(() => {
        this.#fetched.delete(key);
        this.#again?.();
      }, RETRY_AFTER);
    }
  }

  /** @param {TurnJson | undefined} turn @param {boolean} settled */
  #note(turn, settled) {
    if (this.moment?.turnId === turn?.turn_id && Boolean(this.moment?.settled) === settled) return;
    this.moment = turn ? { turnId: turn.turn_id, settled } : null;
    this.dispatchEvent(new Event("moment"));
  }
}

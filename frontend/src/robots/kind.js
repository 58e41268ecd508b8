// Robots as a kind of battle: both sides in MuJoCo viewers, with their tools.

import { closest, part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { ForkPanel, sayFork } from "./forks.js";
import { readFrame } from "./frames.js";
import { OutcomePanel, sayScoring } from "./outcomes.js";
import { chosenQuality } from "./quality-choice.js";
import { viewerShortcuts } from "./shortcuts.js";
import { SidePanel } from "./sides.js";
import { Stage } from "./stage.js";
import { SuggestionFilter } from "./suggestions.js";
import { Tools } from "./tools.js";
import { WORDS } from "./words.js";

/**
 * @import { BattleView, Kind, ViewHost } from "../core/kind.d.ts"
 * @import { BattleJson, TurnJson } from "../core/wire.d.ts"
 * @import { RobotApi } from "./api.js"
 * @import { Frame } from "./frames.js"
 */

/** @implements {Kind} */
export class RobotKind {
  words = WORDS;
  chunkType = "rollout.frames";
  readChunk = readFrame;
  sayFork = sayFork;
  #api;

  /** @param {HTMLElement} root of the page @param {RobotApi} api */
  constructor(root, api) {
    this.#api = api;
    const { robot, scene, worker, wasm, wasmBytes } = root.dataset;
    this.setting = { robot_id: robot, scene_id: scene };
    this.panels = { left: new SidePanel(root, "left"), right: new SidePanel(root, "right") };
    this.stage = new Stage(this.panels, api, {
      place: { robotId: robot ?? "", sceneId: scene ?? "" },
      addresses: { workerUrl: worker ?? "", wasmUrl: wasm ?? "", wasmBytes: Number(wasmBytes) },
      quality: chosenQuality(location.search),
    });
  }

  /** @param {HTMLElement} root @param {ViewHost} host */
  createView(root, host) {
    return new RobotView(root, this.stage, this.panels, this.#api, host);
  }
}

/** @implements {BattleView} */
class RobotView extends EventTarget {
  #root;
  #stage;
  #panels;
  #tools;
  #outcomes;
  #forks;
  #suggestions;
  /** @type {{battle: BattleJson, turn: TurnJson | undefined} | null} */
  #shown = null;

  /**
   * @param {HTMLElement} root @param {Stage} stage @param {RobotKind["panels"]} panels @param {RobotApi} api
   * @param {ViewHost} host
   */
  constructor(root, stage, panels, api, host) {
    super();
    this.#root = root;
    this.#stage = stage;
    this.#panels = panels;
    this.#tools = new Tools(root, stage);
    this.#outcomes = new OutcomePanel(part(root, "verdict"));
    this.#forks = new ForkPanel(
      part(root, "explore"),
      (request) => host.startTurn((battleId) => api.fork(battleId, request)),
      (battleId) => api.forkChoices(battleId),
    );
    this.#suggestions = new SuggestionFilter(part(root, "composer"), (battleId) => stage.leftOut(battleId));
    this.shortcuts = viewerShortcuts(this.#tools);
    root.addEventListener("click", (event) => {
      if (closest(event, "[data-action=load-again]")) stage.retry();
    });
    stage.addEventListener("ready", () => this.#ready());
    stage.addEventListener("turn", () => this.#momentChanged());
    part(root, "stage").addEventListener("viewer:moment", () => this.#momentChanged());
  }

  get canShow() {
    return this.#stage.manifest !== null;
  }

  get moment() {
    return this.#stage.moment;
  }

  load() {
    this.#stage.load();
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn */
  render(battle, turn) {
    this.#shown = { battle, turn };
    this.#sayGoal(turn);
    this.#suggestions.render(battle);
    this.#outcomes.render(battle, turn);
    this.#tools.render(battle);
    this.#forks.render(battle, turn, this.moment);
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn @param {Frame[]} frames */
  show(battle, turn, frames) {
    this.#stage.show(battle, turn, frames);
  }

  /** @param {BattleJson} battle @param {TurnJson | undefined} turn @param {number | null} released */
  renderProgress(battle, turn, released) {
    for (const panel of Object.values(this.#panels)) panel.render(battle, turn, released);
  }

  /** @param {Frame} frame */
  stepOf(frame) {
    return this.#stage.stepOf(frame);
  }

  refreshTheme() {
    this.#stage.replay?.refreshTheme();
  }

  /** What the turn is scored as: the same words before and after the vote. @param {TurnJson | undefined} turn */
  #sayGoal(turn) {
    const line = part(this.#root, "goal");
    line.hidden = !turn;
    line.dataset.judged = String(Boolean(turn?.goal));
    part(line, "goal-text").textContent = turn ? sayScoring(turn) : "";
  }

  #ready() {
    this.#tools.attach();
    const notice = part(this.#root, "engine");
    const mismatch = this.#stage.engineMismatch;
    notice.hidden = mismatch === null;
    if (mismatch) {
      notice.textContent = gettext("Recorded with MuJoCo %(recorded)s but shown with %(here)s: positions may differ slightly.", mismatch);
    }
    this.dispatchEvent(new Event("ready"));
  }

  #momentChanged() {
    if (this.#shown) this.#forks.render(this.#shown.battle, this.#shown.turn, this.moment);
    this.dispatchEvent(new Event("moment"));
  }
}

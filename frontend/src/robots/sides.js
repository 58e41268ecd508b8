// The texts around each viewer: the progress of its robot, errors and, after the vote, the policy's name.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { explainFailure } from "../core/words.js";
import { factsOf, sayParameters } from "./facts.js";

/**
 * @import { BattleJson, Introduced, SideOfTurn, TurnJson } from "../core/wire.d.ts"
 * @import { Side } from "../viewer/sides.js"
 * @typedef {"won" | "lost" | "even" | "bad" | ""} Result of the vote for a side
 */

const STATUS = {
  queued: gettext("Waiting in the queue"),
  running: gettext("Working"),
  completed: gettext("Finished"),
  failed: gettext("Failed"),
};
/** @type {Record<Result, string>} */
const RESULTS = { won: gettext("✓ Winner"), lost: "", even: gettext("Tie"), bad: gettext("Both bad"), "": "" };
export const SIDE_NAMES = { left: gettext("Left robot"), right: gettext("Right robot") };

export class SidePanel {
  #root;
  #side;

  /** @param {HTMLElement} page @param {Side} side */
  constructor(page, side) {
    this.#root = /** @type {HTMLElement} */ (page.querySelector(`[data-viewer=${side}]`));
    this.#side = side;
  }

  get screen() {
    return part(this.#root, "screen");
  }

  /**
   * @param {BattleJson} battle @param {TurnJson | undefined} turn the one shown
   * @param {number | null} released the last step of it that was released, null before the first
   */
  render(battle, turn, released) {
    const rollout = turn?.[this.#side];
    this.#root.dataset.status = rollout?.status ?? "idle";
    part(this.#root, "status").textContent = turn && rollout ? statusOf(rollout, turn, released) : gettext("Ready");
    this.#renderProgress(rollout, turn, released);
    part(this.#root, "failure").hidden = rollout?.status !== "failed";
    if (rollout?.status === "failed") part(this.#root, "failure-text").textContent = explainFailure(rollout.error);
    const result = resultOf(battle.vote?.vote, this.#side);
    this.#root.dataset.result = result;
    this.#renderPlate(this.#side === "left" ? battle.left_model : battle.right_model, result);
  }

  /** Sets the sentence over the picture: loading, or why there is none. `null` removes it. @param {string | null} text */
  veil(text, { working = false, retry = false } = {}) {
    const veil = part(this.#root, "veil");
    veil.hidden = text === null;
    veil.dataset.working = String(working);
    part(this.#root, "veil-text").textContent = text ?? "";
    part(this.#root, "veil-retry").hidden = !retry;
  }

  /** @param {SideOfTurn | undefined} rollout @param {TurnJson | undefined} turn @param {number | null} released */
  #renderProgress(rollout, turn, released) {
    const bar = part(this.#root, "progress", HTMLProgressElement);
    const status = rollout?.status;
    bar.hidden = status !== "queued" && status !== "running";
    if (!turn || bar.hidden) return;
    if (status === "queued" || released === null) bar.removeAttribute("value");
    else bar.value = released;
    bar.max = turn.max_steps;
  }

  /** Who it was, over the picture, which stays as it is. @param {BattleJson["left_model"]} model @param {Result} result */
  #renderPlate(model, result) {
    const plate = part(this.#root, "plate");
    plate.hidden = typeof model === "string";
    if (typeof model === "string") return;
    const link = part(plate, "plate-name", HTMLAnchorElement);
    link.textContent = model.name;
    if (model.address) link.href = model.address;
    part(plate, "plate-result").textContent = RESULTS[result];
    part(plate, "plate-facts").textContent = sayFacts(model);
  }
}

/** @param {SideOfTurn} rollout @param {TurnJson} turn @param {number | null} released */
function statusOf(rollout, turn, released) {
  if (rollout.status === "running") {
    if (released === null) return gettext("Getting ready");
    return gettext("Working: step %(step)s of %(all)s", { step: released, all: turn.max_steps });
  }
  if (rollout.status === "completed" && rollout.steps !== null) {
    return gettext("Finished after %(steps)s steps", { steps: rollout.steps });
  }
  return STATUS[rollout.status];
}

/** "28M parameters · learned from 3,771 demonstrations" @param {Introduced} model */
function sayFacts(model) {
  const { parameters, training_data } = factsOf(model);
  const data = training_data ? gettext("trained on: %(data)s", { data: gettext(training_data) }) : "";
  return [sayParameters(parameters), data].filter(Boolean).join(" · ");
}

/** @param {string | undefined} vote @param {Side} side @returns {Result} */
function resultOf(vote, side) {
  if (!vote) return "";
  if (vote === `${side}_better`) return "won";
  if (vote.endsWith("_better")) return "lost";
  return vote === "tie" ? "even" : "bad";
}

// The texts around each viewer: the progress of its robot, errors and, after the vote, the policy's name.

import { outcomeOf as factsOf } from "./outcome.js";
import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";
import { explainFailure } from "../core/words.js";
import { sayGoal } from "./outcomes.js";
import { explainEnding } from "./words.js";

/**
 * @import { BattleJson, RolloutOutcome, SideOfTurn, TurnJson } from "../core/wire.d.ts"
 * @import { Side } from "../viewer/sides.js"
 */

const STATUS = {
  queued: gettext("Waiting in the queue"),
  running: gettext("Working"),
  completed: gettext("Finished"),
  failed: gettext("Failed"),
};
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
    this.#renderIdentity(this.#side === "left" ? battle.left_model : battle.right_model, rollout && factsOf(rollout));
    this.#root.dataset.result = resultOf(battle.vote?.vote, this.#side);
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

  /** @param {BattleJson["left_model"]} model @param {RolloutOutcome | undefined} outcome */
  #renderIdentity(model, outcome) {
    const known = typeof model === "object" ? model : null;
    part(this.#root, "identity").hidden = known === null;
    part(this.#root, "name").textContent = known?.name ?? SIDE_NAMES[this.#side];
    if (!known) return;
    part(this.#root, "family").textContent = known.family;
    part(this.#root, "provenance").textContent = known.provenance;
    part(this.#root, "outcome").textContent = outcome ? outcomeOf(outcome) : "";
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

/** @param {RolloutOutcome} outcome */
function outcomeOf(outcome) {
  return gettext("%(verdict)s · %(steps)s steps, %(ending)s · computed in %(seconds)s s", {
    verdict: sayGoal(outcome),
    steps: outcome.steps,
    ending: explainEnding(outcome.termination_reason),
    seconds: ((outcome.duration_ms ?? 0) / 1000).toFixed(1),
  });
}

/** @param {string | undefined} vote @param {Side} side */
function resultOf(vote, side) {
  if (!vote) return "";
  if (vote === `${side}_better`) return "won";
  return vote.endsWith("_better") ? "lost" : "even";
}

// What stands around each viewer: how its robot is doing, what went wrong, and after the vote who it was.

import { gettext } from "../i18n.js";
import { explainEnding, explainFailure } from "./words.js";

const STATUS = {
  queued: gettext("Waiting in the queue"),
  running: gettext("Working"),
  completed: gettext("Finished"),
  failed: gettext("Failed"),
};
const NAMES = { left: gettext("Left robot"), right: gettext("Right robot") };

export class SidePanel {
  #root;
  #side;

  /** @param {HTMLElement} root `[data-viewer]` @param {"left" | "right"} side */
  constructor(root, side) {
    this.#root = root;
    this.#side = side;
  }

  get screen() {
    return this.#part("screen");
  }

  /**
   * @param {object} battle @param {object | undefined} turn the one shown
   * @param {number | null} released the last step of it that was released, null before the first
   */
  render(battle, turn, released) {
    const rollout = turn?.[this.#side];
    this.#root.dataset.status = rollout?.status ?? "idle";
    this.#part("status").textContent = rollout ? statusOf(rollout, turn, released) : gettext("Ready");
    this.#renderProgress(rollout, turn, released);
    this.#renderFailure(rollout);
    this.#renderIdentity(battle[`${this.#side}_model`], rollout?.outcome);
    this.#root.dataset.result = resultOf(battle.vote?.vote, this.#side);
  }

  /** A sentence over the picture: loading, or why there is none. `null` takes it away. */
  veil(text, { working = false, retry = false } = {}) {
    const veil = this.#part("veil");
    veil.hidden = text === null;
    veil.dataset.working = String(working);
    this.#part("veil-text").textContent = text ?? "";
    this.#part("veil-retry").hidden = !retry;
  }

  #renderProgress(rollout, turn, released) {
    const bar = this.#part("progress");
    const open = rollout && (rollout.status === "queued" || rollout.status === "running");
    bar.hidden = !open;
    if (!open) return;
    if (rollout.status === "queued" || released === null) bar.removeAttribute("value");
    else bar.value = released;
    bar.max = turn.max_steps;
  }

  #renderFailure(rollout) {
    const failed = rollout?.status === "failed";
    this.#part("failure").hidden = !failed;
    if (failed) this.#part("failure-text").textContent = explainFailure(rollout.error);
  }

  #renderIdentity(model, outcome) {
    const known = model !== null && typeof model === "object";
    this.#part("identity").hidden = !known;
    this.#part("name").textContent = known ? model.name : NAMES[this.#side];
    if (!known) return;
    this.#part("family").textContent = model.family;
    this.#part("provenance").textContent = model.provenance;
    this.#part("outcome").textContent = outcome ? outcomeOf(outcome) : "";
  }

  #part(name) {
    return this.#root.querySelector(`[data-part=${name}]`);
  }
}

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

function outcomeOf({ success, progress, termination_reason, steps, duration_ms }) {
  const verdict =
    success === null
      ? gettext("No judged goal")
      : success
        ? gettext("Goal reached")
        : gettext("Goal missed, %(percent)s % of the way", { percent: Math.round(100 * (progress ?? 0)) });
  return gettext("%(verdict)s · %(steps)s steps, %(ending)s · computed in %(seconds)s s", {
    verdict,
    steps,
    ending: explainEnding(termination_reason),
    seconds: (duration_ms / 1000).toFixed(1),
  });
}

function resultOf(vote, side) {
  if (!vote) return "";
  if (vote === `${side}_better`) return "won";
  return vote.endsWith("_better") ? "lost" : "even";
}

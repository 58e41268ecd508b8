// The measured outcome of each side, shown after the vote beside the visitor's judgement.

import { cloneOf, part } from "../core/dom.js";
import { gettext, language } from "../core/i18n.js";
import { nameOf } from "../core/phase.js";
import { SIDES } from "../viewer/sides.js";
import { factsOf } from "./facts.js";
import { outcomeOf } from "./outcome.js";
import { explainEnding } from "./words.js";

/**
 * @import { BattleJson, EndOfStart, RolloutOutcome, StartJson, TurnJson } from "../core/wire.d.ts"
 * @import { Side } from "../viewer/sides.js"
 * @typedef {Record<Side, EndOfStart>} EndsOfStart
 */

export class OutcomePanel {
  #root;

  /** @param {HTMLElement} root the verdict */
  constructor(root) {
    this.#root = root;
  }

  /**
   * @param {BattleJson} battle
   * @param {TurnJson | undefined} turn the current one; for a fork, the last other turn is reported instead
   */
  render(battle, turn) {
    const { vote, turns, starts } = battle;
    const judged = turn && !turn.exploration ? turn : turns.filter(({ exploration }) => !exploration).at(-1);
    if (!vote || !judged) return;
    for (const side of SIDES) this.#physics(side, outcomeOf(judged[side]));
    this.#facts(battle);
    this.#starts(battle);
    part(this.#root, "agreement").textContent = starts ? agreementOfStarts(vote.vote, starts) : agreement(vote.vote, judged);
    this.#sameStart(judged, turns);
  }

  /** @param {Side} side @param {RolloutOutcome | undefined} outcome */
  #physics(side, outcome) {
    const cell = part(this.#root, `physics-${side}`);
    cell.dataset.success = String(outcome?.success ?? "");
    part(cell, "success").textContent = outcome ? sayGoal(outcome) : gettext("Failed");
    part(cell, "ending").textContent = outcome
      ? gettext("%(steps)s steps, %(ending)s", { steps: outcome.steps, ending: explainEnding(outcome.termination_reason) })
      : "";
  }

  /** Parameters and training data; a row that says nothing of either side is left out. @param {BattleJson} battle */
  #facts({ left_model, right_model }) {
    const known = [left_model, right_model].map((model) => (typeof model === "string" ? {} : factsOf(model)));
    for (const [name, said] of /** @type {const} */ ([
      ["parameters", known.map(({ parameters }) => parameters?.toLocaleString(language()) ?? "")],
      ["data", known.map(({ training_data }) => (training_data ? gettext(training_data) : ""))],
    ])) {
      part(this.#root, `${name}-row`).hidden = said.every((text) => text === "");
      for (const [place, side] of SIDES.entries()) part(this.#root, `${name}-${side}`).textContent = said[place];
    }
  }

  /** Shows in how many of several starts each side reached the goal, and in which. @param {BattleJson} battle */
  #starts(battle) {
    const { left_model, right_model } = battle;
    const starts = battle.starts ?? [];
    for (const side of starts.length > 0 ? SIDES : []) {
      const cell = part(this.#root, `physics-${side}`);
      cell.dataset.success = "";
      part(cell, "success").textContent = sayReached(starts, side);
      part(cell, "ending").textContent = "";
    }
    part(this.#root, "start-rows").replaceChildren(...starts.map((start) => this.#startRow(start)));
    const split = part(this.#root, "split");
    split.textContent = saySplit(starts, { left: nameOf(left_model), right: nameOf(right_model) });
    split.hidden = split.textContent === "";
  }

  /** @param {StartJson} start */
  #startRow(start) {
    const row = cloneOf(this.#root, "start-template");
    part(row, "start-name").textContent = gettext("Start %(number)s", { number: start.number });
    for (const side of SIDES) {
      const cell = part(row, `start-${side}`);
      cell.dataset.success = String(start[side].success ?? "");
      part(cell, "success").textContent = sayShortly(start[side]);
    }
    return row;
  }

  /**
   * Shows that both first states have the same hash. A follow-up starts where each side ended, so it cannot be compared.
   * @param {TurnJson} judged @param {TurnJson[]} turns
   */
  #sameStart(judged, turns) {
    const first = [judged, ...turns].find(({ start, seq }) => seq === 1 || start === "reset") ?? turns[0];
    const hashes = SIDES.map((side) => outcomeOf(first[side])?.start_hash);
    const badge = part(this.#root, "same-start");
    badge.hidden = !hashes[0] || hashes[0] !== hashes[1];
    part(badge, "start-hash").textContent = hashes[0]?.slice(0, 12) ?? "";
    part(badge, "start-hash").title = hashes[0] ?? "";
  }
}

/** What physics scores a turn as, which depends on its instruction alone. @param {Pick<TurnJson, "goal">} turn */
export function sayScoring({ goal }) {
  if (!goal) return gettext("We cannot score this one automatically: only people judge it.");
  return gettext("Scored as: %(goal)s", { goal: goal.text });
}

/** @param {EndOfStart} end */
function sayShortly({ success, progress }) {
  if (success === null) return gettext("Not scored");
  return success ? gettext("Reached") : unbroken(gettext("Missed at %(percent)s %", { percent: Math.round(100 * (progress ?? 0)) }));
}

/** The number and its sign stay on one line. @param {string} said */
function unbroken(said) {
  return said.replace(" %", "\u00a0%");
}

/** The measured success and progress; without a known goal only people can judge. @param {EndOfStart} outcome */
export function sayGoal({ success, progress }) {
  if (success === null) return gettext("Not scored");
  if (success) return gettext("Goal reached");
  return unbroken(gettext("Goal missed, %(percent)s % of the way there", { percent: Math.round(100 * (progress ?? 0)) }));
}

/** Whether the vote agrees with the measured outcome. @param {string} vote @param {TurnJson} turn */
export function agreement(vote, turn) {
  const [left, right] = SIDES.map((side) => outcomeOf(turn[side])?.success ?? null);
  if (left === null || right === null) return gettext("We cannot score this one automatically: only people judge it.");
  const physics = left === right ? (left ? "tie" : "both_bad") : left ? "left_better" : "right_better";
  if (physics === vote) return gettext("The vote agrees with the physics check.");
  if (left === right) {
    return left
      ? gettext("According to the physics check, both reached the goal. A vote can consider more than that.")
      : gettext("According to the physics check, neither reached the goal. A vote can consider more than that.");
  }
  return gettext("The vote and the physics check disagree. Both are kept; the leaderboard shows how often that happens.");
}

/**
 * Whether the vote names the side that reached the goal from more of the several starts.
 * @param {string} vote @param {EndsOfStart[]} starts
 */
export function agreementOfStarts(vote, starts) {
  const [left, right] = SIDES.map((side) => reached(starts, side));
  if (left === null || right === null) return gettext("We cannot score this one automatically: only people judge it.");
  const physics = left === right ? (left > 0 ? "tie" : "both_bad") : left > right ? "left_better" : "right_better";
  if (physics === vote) return gettext("The vote agrees with the physics check.");
  if (left !== right) return gettext("The vote and the physics check disagree. Both are kept; the leaderboard shows how often that happens.");
  return left > 0
    ? gettext("According to the physics check, both reached the goal equally often. A vote can consider more than that.")
    : gettext("According to the physics check, neither reached the goal. A vote can consider more than that.");
}

/**
 * The number of starts in which a side reached the goal; null if the instruction has no judged goal.
 * @param {EndsOfStart[]} starts @param {Side} side
 */
export function reached(starts, side) {
  if (starts.some((start) => start[side].success === null)) return null;
  return starts.filter((start) => start[side].success).length;
}

/** "Goal reached in 2 of 3 starts" @param {EndsOfStart[]} starts @param {Side} side */
export function sayReached(starts, side) {
  const count = reached(starts, side);
  if (count === null) return gettext("Not scored");
  return gettext("Goal reached in %(count)s of %(all)s starts", { count, all: starts.length });
}

/**
 * A sentence on sides whose outcome differs between starts, which a single clip would hide; "" if there are none.
 * @param {EndsOfStart[]} starts @param {Record<Side, string | null>} names
 */
export function saySplit(starts, names) {
  const said = SIDES.map((side) => {
    const name = names[side];
    const count = reached(starts, side);
    if (count === 1) return gettext("%(name)s reached the goal from only one of the starts. Seen alone, that clip would have been good luck.", { name });
    if (count !== null && count > 1 && count < starts.length) {
      return gettext("%(name)s missed the goal from only one of the starts. Seen alone, that clip would have been bad luck.", { name });
    }
    return "";
  });
  return said.filter(Boolean).join(" ");
}

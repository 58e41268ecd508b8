// After the vote: what people said beside what physics says, who they were, what the vote did, where to go next.

import { gettext } from "../i18n.js";
import { part } from "./part.js";
import { reached, sayReached, saySplit } from "./starts.js";
import { voteName } from "./vote.js";
import { JUDGEMENTS, REASONS, explainEnding } from "./words.js";

const SIDES = ["left", "right"];

export class Verdict {
  #root;

  /** @param {HTMLElement} root @param {{next?: () => void}} wishes */
  constructor(root, { next }) {
    this.#root = root;
    part(root, "next")?.addEventListener("click", next);
    part(root, "copy-link").addEventListener("click", () => this.#copyLink());
  }

  /** @param {object} battle @param {object} turn the judged turn that is shown, or the last one */
  render(battle, turn) {
    const { status, battle_id, vote, left_model, right_model, turns, starts } = battle;
    this.#root.hidden = status === "ongoing";
    if (status === "ongoing") return;
    const title = vote ? this.#title(vote.vote) : gettext("This battle was left without a vote");
    part(this.#root, "verdict-title").textContent = title;
    part(this.#root, "verdict-details").hidden = !vote;
    if (!vote) return;
    const judged = turn && !turn.exploration ? turn : turns.filter(({ exploration }) => !exploration).at(-1);
    part(this.#root, "verdict-left").textContent = left_model.name;
    part(this.#root, "verdict-right").textContent = right_model.name;
    for (const side of SIDES) this.#physics(side, judged[side].outcome);
    this.#starts(battle);
    part(this.#root, "agreement").textContent = starts ? agreementOfStarts(vote.vote, starts) : agreement(vote.vote, judged);
    this.#sameStart(judged, turns);
    this.#reasons(vote.reasons);
    part(this.#root, "link").href = `/b/${battle_id}`;
  }

  /** What the counted votes say about this pair, once the server has told. @param {object | null} effect */
  renderEffect(effect) {
    const text = part(this.#root, "effect");
    text.hidden = effect === null;
    if (effect) text.textContent = sayEffect(effect);
  }

  focus() {
    part(this.#root, "verdict-title").focus({ preventScroll: true });
    this.#root.scrollIntoView({ block: "nearest" });
  }

  #title(vote) {
    const name = voteName(vote);
    return "shared" in this.#root.dataset
      ? gettext("The vote: %(vote)s", { vote: name })
      : gettext("You voted: %(vote)s", { vote: name });
  }

  #physics(side, outcome) {
    const cell = part(this.#root, `physics-${side}`);
    cell.dataset.success = String(outcome?.success ?? "");
    part(cell, "success").textContent = outcome ? sayGoal(outcome) : gettext("Failed");
    part(cell, "ending").textContent = outcome
      ? gettext("%(steps)s steps, %(ending)s", { steps: outcome.steps, ending: explainEnding(outcome.termination_reason) })
      : "";
  }

  /** In how many of several starts each side reached the goal, and in which. */
  #starts(battle) {
    const { left_model, right_model } = battle;
    const starts = battle.starts ?? [];
    for (const side of starts.length > 0 ? SIDES : []) {
      const cell = part(this.#root, `physics-${side}`);
      cell.dataset.success = "";
      part(cell, "success").textContent = sayReached(starts, side);
      part(cell, "ending").textContent = "";
    }
    const body = part(this.#root, "start-rows");
    const { content } = part(this.#root, "start-template");
    body.replaceChildren(...starts.map((start) => startRow(content, start)));
    const split = part(this.#root, "split");
    split.textContent = saySplit(starts, { left: left_model.name, right: right_model.name });
    split.hidden = split.textContent === "";
  }

  /** Both first states have one hash; a follow-up starts where each side ended, so only a first turn can prove it. */
  #sameStart(judged, turns) {
    const first = [judged, ...turns].find(({ start, seq }) => seq === 1 || start === "reset") ?? turns[0];
    const hashes = SIDES.map((side) => first[side].outcome?.start_hash);
    const badge = part(this.#root, "same-start");
    badge.hidden = !hashes[0] || hashes[0] !== hashes[1];
    part(badge, "start-hash").textContent = hashes[0]?.slice(0, 12) ?? "";
    part(badge, "start-hash").title = hashes[0] ?? "";
  }

  #reasons(reasons) {
    const said = Object.entries(reasons ?? {}).filter(([, judgement]) => judgement);
    const line = part(this.#root, "said");
    line.hidden = said.length === 0;
    line.textContent = said.map(([name, judgement]) => `${REASONS[name]}: ${JUDGEMENTS[judgement]}`).join(" · ");
  }

  async #copyLink() {
    const button = part(this.#root, "copy-link");
    const { href } = part(this.#root, "link");
    try {
      await navigator.clipboard.writeText(href);
      button.textContent = gettext("Link copied");
    } catch {
      // Browsers keep the clipboard from pages without https; the link beside the button can be copied by hand.
      part(this.#root, "link").focus();
      button.textContent = gettext("Copy the link beside");
    }
  }
}

function startRow(content, start) {
  const row = content.firstElementChild.cloneNode(true);
  part(row, "start-name").textContent = gettext("Start %(number)s", { number: start.number });
  for (const side of SIDES) {
    const cell = part(row, `start-${side}`);
    cell.dataset.success = String(start[side].success ?? "");
    part(cell, "success").textContent = sayShortly(start[side]);
  }
  return row;
}

function sayShortly({ success, progress }) {
  if (success === null) return gettext("No judged goal");
  return success ? gettext("Reached") : gettext("Missed at %(percent)s %", { percent: Math.round(100 * (progress ?? 0)) });
}

/** Success and progress as physics judged them; without a known goal only people can. */
function sayGoal({ success, progress }) {
  if (success === null) return gettext("No judged goal");
  if (success) return gettext("Goal reached");
  return gettext("Goal missed, %(percent)s % of the way", { percent: Math.round(100 * (progress ?? 0)) });
}

/** Whether the vote and physics point the same way. */
export function agreement(vote, turn) {
  const [left, right] = SIDES.map((side) => turn[side].outcome?.success ?? null);
  if (left === null || right === null) return gettext("Physics has no opinion on this instruction; yours stands alone.");
  const physics = left === right ? (left ? "tie" : "both_bad") : left ? "left_better" : "right_better";
  if (physics === vote) return gettext("You and physics agree.");
  if (left === right) {
    return left
      ? gettext("To physics both reached the goal; you saw more than that.")
      : gettext("To physics neither reached the goal; you saw more than that.");
  }
  return gettext("You and physics disagree. Both are kept: the boards show how often that happens.");
}

/** Of several starts: whether the vote names the side that reached the goal more often. */
export function agreementOfStarts(vote, starts) {
  const [left, right] = SIDES.map((side) => reached(starts, side));
  if (left === null || right === null) return gettext("Physics has no opinion on this instruction; yours stands alone.");
  const physics = left === right ? (left > 0 ? "tie" : "both_bad") : left > right ? "left_better" : "right_better";
  if (physics === vote) return gettext("You and physics agree.");
  if (left !== right) return gettext("You and physics disagree. Both are kept: the boards show how often that happens.");
  return left > 0
    ? gettext("To physics both reached the goal equally often; you saw more than that.")
    : gettext("To physics neither reached the goal; you saw more than that.");
}

export function sayEffect({ pair, model_votes }) {
  const counted = gettext("Your vote counts at the next full hour.");
  if (pair.votes === 0) return `${gettext("No vote on this pair is published yet.")} ${counted}`;
  const record = gettext("This pair before: %(votes)s votes, left won %(left)s, right %(right)s, even %(even)s.", {
    votes: pair.votes,
    left: pair.left_better,
    right: pair.right_better,
    even: pair.tie + pair.both_bad,
  });
  const totals = gettext("Votes so far: left %(left)s, right %(right)s.", model_votes);
  return `${record} ${totals} ${counted}`;
}

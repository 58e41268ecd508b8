// The panel after the vote: the vote, the revealed names, the effect of the vote, and the next step.

import { part } from "./dom.js";
import { gettext, language, ngettext } from "./i18n.js";
import { nameOf } from "./phase.js";
import { sayReason, voteName } from "./words.js";

/** @import { BattleJson, VoteEffect, VoteJson } from "./wire.d.ts" */

/** The button of the next battle comes where Undo was: a tap so soon after that was meant for it [ms]. */
const TOO_SOON = 400;

export class Verdict {
  #root;
  #shownAt = 0;

  /** @param {HTMLElement} root @param {() => void} next opens the next battle */
  constructor(root, next) {
    this.#root = root;
    root.querySelector("[data-part=next]")?.addEventListener("click", (event) => {
      if (!this.#isMeantForUndo(/** @type {MouseEvent} */ (event))) next();
    });
    part(root, "copy-link").addEventListener("click", () => this.#copyLink());
  }

  /** @param {BattleJson} battle */
  render({ status, battle_id, vote, left_model, right_model }) {
    if (this.#root.hidden && status !== "ongoing") this.#shownAt = performance.now();
    this.#root.hidden = status === "ongoing";
    if (status === "ongoing") return;
    const title = vote ? this.#title(vote.vote) : gettext("This battle ended without a vote");
    part(this.#root, "verdict-title").textContent = title;
    part(this.#root, "verdict-details").hidden = !vote;
    if (!vote) return;
    this.#model("left", left_model);
    this.#model("right", right_model);
    this.#reasons(vote.reasons);
    part(this.#root, "link", HTMLAnchorElement).href = `/b/${battle_id}`;
  }

  /** Shows the counted votes on this pair, once the server has sent them. @param {BattleJson} battle @param {VoteEffect | null} effect */
  renderEffect(battle, effect) {
    const text = part(this.#root, "effect");
    text.hidden = effect === null;
    if (effect) text.textContent = sayEffect(effect, { left: nameOf(battle.left_model), right: nameOf(battle.right_model) });
  }

  /** Keys have no place on the screen. @param {MouseEvent} event */
  #isMeantForUndo({ detail }) {
    return detail > 0 && performance.now() - this.#shownAt < TOO_SOON;
  }

  /** The pictures stay where they are. */
  focus() {
    part(this.#root, "verdict-title").focus({ preventScroll: true });
  }

  /** @param {"left" | "right"} side @param {BattleJson["left_model"]} model */
  #model(side, model) {
    if (typeof model === "string") return;
    const link = Object.assign(document.createElement(model.address ? "a" : "span"), { textContent: model.name });
    if (model.address) link.setAttribute("href", model.address);
    part(this.#root, `verdict-${side}`).replaceChildren(link);
    part(this.#root, `provenance-${side}`).textContent = gettext(model.provenance);
  }

  /** @param {string} vote */
  #title(vote) {
    const name = voteName(vote);
    return "shared" in this.#root.dataset
      ? gettext("The vote: %(vote)s", { vote: name })
      : gettext("You voted: %(vote)s", { vote: name });
  }

  /** @param {VoteJson["reasons"]} reasons */
  #reasons(reasons) {
    const said = Object.entries(reasons ?? {}).flatMap(([name, judgement]) => (judgement ? [sayReason(name, judgement)] : []));
    const line = part(this.#root, "said");
    line.hidden = said.length === 0;
    line.textContent = said.join(" · ");
  }

  async #copyLink() {
    const button = part(this.#root, "copy-link");
    const link = part(this.#root, "link", HTMLAnchorElement);
    try {
      await navigator.clipboard.writeText(link.href);
      button.textContent = gettext("Link copied");
    } catch {
      // Browsers deny the clipboard to pages without HTTPS; the link beside the button can be copied by hand.
      link.focus();
      button.textContent = gettext("Copy the link by hand");
    }
  }
}

/**
 * The other votes on the pair that are published, and those on each of the two.
 * @param {VoteEffect} effect @param {Record<"left" | "right", string | null>} names
 */
export function sayEffect({ pair, model_votes }, names) {
  if (pair.votes === 0) return gettext("No other vote on this pair has been published yet.");
  const wins = [sayWins(names.left, pair.left_better), sayWins(names.right, pair.right_better), sayEven(pair.tie + pair.both_bad)];
  const record = new Intl.ListFormat(language(), { type: "conjunction" }).format(wins.filter(Boolean));
  const others = ngettext(
    "%(count)s other vote on this pair has been published: %(record)s.",
    "%(count)s other votes on this pair have been published: %(record)s.",
    pair.votes,
    { record },
  );
  const totals = gettext("Published votes so far: %(left_name)s %(left)s, %(right_name)s %(right)s.", {
    ...model_votes,
    left_name: names.left,
    right_name: names.right,
  });
  return `${others} ${totals}`;
}

/** @param {string | null} name @param {number} count */
const sayWins = (name, count) =>
  count === 0 ? "" : ngettext("%(name)s won once", "%(name)s won %(count)s times", count, { name });

/** @param {number} count */
const sayEven = (count) => (count === 0 ? "" : ngettext("%(count)s had no winner", "%(count)s had no winner", count));

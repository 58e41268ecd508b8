// The panel after the vote: the vote, the revealed names, the effect of the vote, and the next step.

import { part } from "./dom.js";
import { gettext } from "./i18n.js";
import { nameOf } from "./phase.js";
import { sayReason, voteName } from "./words.js";

/** @import { BattleJson, VoteEffect, VoteJson } from "./wire.d.ts" */

export class Verdict {
  #root;

  /** @param {HTMLElement} root @param {() => void} next opens the next battle */
  constructor(root, next) {
    this.#root = root;
    root.querySelector("[data-part=next]")?.addEventListener("click", next);
    part(root, "copy-link").addEventListener("click", () => this.#copyLink());
  }

  /** @param {BattleJson} battle */
  render({ status, battle_id, vote, left_model, right_model }) {
    this.#root.hidden = status === "ongoing";
    if (status === "ongoing") return;
    const title = vote ? this.#title(vote.vote) : gettext("This battle was left without a vote");
    part(this.#root, "verdict-title").textContent = title;
    part(this.#root, "verdict-details").hidden = !vote;
    if (!vote) return;
    part(this.#root, "verdict-left").textContent = nameOf(left_model);
    part(this.#root, "verdict-right").textContent = nameOf(right_model);
    this.#reasons(vote.reasons);
    part(this.#root, "link", HTMLAnchorElement).href = `/b/${battle_id}`;
  }

  /** Shows the counted votes on this pair, once the server has sent them. @param {VoteEffect | null} effect */
  renderEffect(effect) {
    const text = part(this.#root, "effect");
    text.hidden = effect === null;
    if (effect) text.textContent = sayEffect(effect);
  }

  focus() {
    part(this.#root, "verdict-title").focus({ preventScroll: true });
    this.#root.scrollIntoView({ block: "nearest" });
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
      button.textContent = gettext("Copy the link beside");
    }
  }
}

/** @param {VoteEffect} effect */
export function sayEffect({ pair, model_votes }) {
  const counted = gettext("Your vote counts at the next full hour.");
  if (pair.votes === 0) return `${gettext("No vote on this pair is published yet.")} ${counted}`;
  const record = gettext("This pair before: %(votes)s votes, left won %(left)s, right %(right)s, even %(even)s.", {
    votes: pair.votes,
    left: pair.left_better,
    right: pair.right_better,
    even: pair.tie + pair.both_bad,
  });
  const totals = gettext("Votes so far: left %(left)s, right %(right)s.", { ...model_votes });
  return `${record} ${totals} ${counted}`;
}

// Four buttons, and one line that says why they are closed.

import { VOTES, explainVoteBlock } from "./words.js";

/** Key -> vote, in the order of the buttons on the page. */
export const VOTE_KEYS = { 1: "left_better", 2: "tie", 3: "both_bad", 4: "right_better" };

export class VotePanel {
  #root;
  #why;
  #busy = false;
  #open = false;

  /** @param {HTMLElement} root @param {(vote: string) => Promise<void>} cast */
  constructor(root, cast) {
    this.#root = root;
    this.#why = root.querySelector("[data-part=vote-why]");
    this.cast = async (vote) => {
      if (!this.#open || this.#busy) return;
      this.#busy = true;
      try {
        await cast(vote);
      } finally {
        this.#busy = false;
      }
    };
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-vote]");
      if (button) this.cast(button.dataset.vote);
    });
  }

  render(battle) {
    this.#open = battle.can_vote;
    this.#root.dataset.open = String(battle.can_vote);
    this.#why.textContent = battle.can_vote ? "Which robot did it better?" : explainVoteBlock(battle.vote_blocked_because);
    for (const button of this.#root.querySelectorAll("[data-vote]")) {
      button.setAttribute("aria-disabled", String(!battle.can_vote));
      button.setAttribute("aria-pressed", String(battle.vote?.vote === button.dataset.vote));
    }
  }
}

export const voteName = (vote) => VOTES[vote] ?? vote;

// After the vote: let both play on from the moment on the screen, or from another start. Counted nowhere.

import { gettext } from "../i18n.js";
import { part } from "./part.js";

const SEEDS = 2 ** 31;

export class ExplorePanel {
  #root;
  #busy = false;
  #moment = null;
  #closed = null;

  /** @param {HTMLElement} root a form @param {(wish: object) => Promise<boolean>} send true: sent */
  constructor(root, send) {
    this.#root = root;
    root.addEventListener("submit", (event) => event.preventDefault());
    part(root, "from-here").addEventListener("click", () => this.#send(send, this.#fromHere()));
    part(root, "other-seed").addEventListener("click", () => this.#send(send, { seed: Math.floor(Math.random() * SEEDS) }));
  }

  /** @param {object} battle @param {object | undefined} turn the one shown @param {object | null} moment of the stage */
  render(battle, turn, moment) {
    this.#root.hidden = battle.status !== "voted";
    if (this.#root.hidden) return;
    this.#closed = battle.can_explore ? null : gettext("Both robots are at work.");
    this.#moment = moment?.settled && turn?.status === "completed" ? moment : null;
    part(this.#root, "explore-instruction").placeholder = turn?.instruction ?? "";
    const here = part(this.#root, "from-here");
    here.setAttribute("aria-disabled", String(!this.#fromHere() || this.#closed !== null));
    part(this.#root, "other-seed").setAttribute("aria-disabled", String(this.#closed !== null));
    const label = this.#moment
      ? gettext("From here (step %(record)s)", { record: this.#moment.record })
      : gettext("From here");
    if (here.textContent !== label) here.textContent = label;
    part(this.#root, "explore-why").textContent = this.#closed ?? "";
  }

  #fromHere() {
    return this.#moment && { turn_id: this.#moment.turnId, record: this.#moment.record };
  }

  async #send(send, place) {
    if (!place || this.#closed !== null || this.#busy) return;
    const input = part(this.#root, "explore-instruction");
    const instruction = input.value.trim() || input.placeholder;
    this.#busy = true;
    try {
      if (await send({ ...place, instruction })) input.value = "";
    } finally {
      this.#busy = false;
    }
  }
}

/** "Exploration from step 12 of turn 1", or "Exploration from another start". */
export function sayExploration({ turn_id, record }, turns) {
  const origin = turns.find((turn) => turn.turn_id === turn_id);
  if (!origin) return gettext("Exploration from another start");
  return gettext("Exploration from step %(record)s of turn %(turn)s", { record, turn: origin.seq });
}

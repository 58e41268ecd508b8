// Forks after the vote: both sides continue from the current moment, or from another start. They are never counted.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";

/**
 * @import { BattleJson, Exploration, TurnJson } from "../core/wire.d.ts"
 * @import { ForkRequest } from "./api.js"
 * @import { Moment } from "./stage.js"
 */

const SEEDS = 2 ** 31;

export class ForkPanel {
  #root;
  #input;
  #send;
  #busy = false;
  /** @type {Moment | null} */
  #moment = null;
  /** @type {string | null} */
  #closed = null;

  /**
   * @param {HTMLElement} root a form
   * @param {(request: ForkRequest) => Promise<boolean>} send resolves to true when sent
   */
  constructor(root, send) {
    this.#root = root;
    this.#send = send;
    this.#input = part(root, "explore-instruction", HTMLInputElement);
    root.addEventListener("submit", (event) => event.preventDefault());
    part(root, "from-here").addEventListener("click", () => this.#fork(this.#fromHere()));
    part(root, "other-seed").addEventListener("click", () => this.#fork({ seed: Math.floor(Math.random() * SEEDS) }));
  }

  /**
   * @param {BattleJson} battle @param {TurnJson | undefined} turn the one shown
   * @param {Moment | null} moment of the stage
   */
  render(battle, turn, moment) {
    this.#root.hidden = battle.status !== "voted";
    if (this.#root.hidden) return;
    part(this.#root, "explore-tree", HTMLAnchorElement).href = `/battle/${battle.battle_id}/forks`;
    this.#closed = battle.can_explore ? null : gettext("Both robots are working.");
    this.#moment = moment?.settled && turn?.status === "completed" ? moment : null;
    this.#input.placeholder = turn?.instruction ?? "";
    const here = part(this.#root, "from-here");
    here.setAttribute("aria-disabled", String(!this.#moment || this.#closed !== null));
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

  /** @param {ForkRequest | null} place */
  async #fork(place) {
    if (!place || this.#closed !== null || this.#busy) return;
    const instruction = this.#input.value.trim() || this.#input.placeholder;
    this.#busy = true;
    try {
      if (await this.#send({ ...place, instruction })) this.#input.value = "";
    } finally {
      this.#busy = false;
    }
  }
}

/**
 * "Exploration from step 12 of turn 1", or "Exploration from another start".
 * @param {Exploration} fork @param {TurnJson[]} turns
 */
export function sayFork({ turn_id, record, left_model_id, right_model_id, moved }, turns) {
  const origin = turns.find((turn) => turn.turn_id === turn_id);
  const where = origin
    ? gettext("Exploration from step %(record)s of turn %(turn)s", { record, turn: origin.seq })
    : gettext("Exploration from another start");
  const changes = [
    left_model_id && gettext("left: %(model)s", { model: left_model_id }),
    right_model_id && gettext("right: %(model)s", { model: right_model_id }),
    Object.keys(moved).length > 0 && gettext("things moved"),
  ];
  return [where, ...changes.filter(Boolean)].join(" · ");
}

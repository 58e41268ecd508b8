// Forks after the vote: both sides continue from the current moment, or from another start. They are never counted.

import { part } from "../core/dom.js";
import { gettext } from "../core/i18n.js";

/**
 * @import { BattleJson, Exploration, TurnJson } from "../core/wire.d.ts"
 * @import { ForkChoices, ForkRequest } from "./api.js"
 * @import { Moment } from "./stage.js"
 */

const SEEDS = 2 ** 31;

export class ForkPanel {
  /** @type {HTMLFormElement} */
  #root;
  #input;
  #send;
  #changes;
  #busy = false;
  /** @type {Moment | null} */
  #moment = null;
  /** @type {string | null} */
  #closed = null;

  /**
   * @param {HTMLElement} root a form
   * @param {(request: ForkRequest) => Promise<boolean>} send resolves to true when sent
   * @param {(battleId: string) => Promise<ForkChoices>} ask what may be changed
   */
  constructor(root, send, ask) {
    if (!(root instanceof HTMLFormElement)) throw new TypeError("a form is expected");
    this.#root = root;
    this.#changes = new Changes(root, ask);
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
    this.#changes.of(battle.battle_id);
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
    if (!place || this.#closed !== null || this.#busy || !this.#root.reportValidity()) return;
    const instruction = this.#input.value.trim() || this.#input.placeholder;
    this.#busy = true;
    try {
      if (await this.#send({ ...place, ...this.#changes.chosen(), instruction })) {
        this.#root.reset();
        this.#changes.render();
      }
    } finally {
      this.#busy = false;
    }
  }
}

/** Other policies, and a thing that is moved before both begin. */
class Changes {
  #battleId = "";
  #root;
  #ask;
  #asked = "";

  /** @param {HTMLElement} root @param {(battleId: string) => Promise<ForkChoices>} ask */
  constructor(root, ask) {
    this.#root = root;
    this.#ask = ask;
    part(root, "explore-more").addEventListener("toggle", () => this.#fill());
    part(root, "explore-thing").addEventListener("change", () => this.render());
  }

  /** Another battle has other policies and things: they are asked for when it is opened again. @param {string} battleId */
  of(battleId) {
    if (battleId === this.#battleId) return;
    this.#battleId = battleId;
    part(this.#root, "explore-more", HTMLDetailsElement).open = false;
  }

  /** Where a thing is to go matters once one is chosen. */
  render() {
    const chosen = this.#value("explore-thing") !== "";
    for (const name of ["explore-x", "explore-y", "explore-turn"]) part(this.#root, name, HTMLInputElement).disabled = !chosen;
  }

  /** @returns {ForkRequest} */
  chosen() {
    const [left, right, thing] = ["explore-left", "explore-right", "explore-thing"].map((name) => this.#value(name));
    return {
      ...(left && { left_model_id: left }),
      ...(right && { right_model_id: right }),
      ...(thing && { moved: { [thing]: this.#place() } }),
    };
  }

  /** In m and rad: the page shows cm and degrees. */
  #place() {
    const [x, y] = ["explore-x", "explore-y"].map((name) => part(this.#root, name, HTMLInputElement).valueAsNumber / 100);
    const turn = part(this.#root, "explore-turn", HTMLInputElement).valueAsNumber;
    return Number.isNaN(turn) ? [x, y] : [x, y, (turn * Math.PI) / 180];
  }

  /** @param {string} name */
  #value(name) {
    return part(this.#root, name, HTMLSelectElement).value;
  }

  /** The policies of this battle's world, and the things that are there: asked for when somebody looks. */
  async #fill() {
    const battleId = this.#battleId;
    if (!part(this.#root, "explore-more", HTMLDetailsElement).open || this.#asked === battleId) return;
    this.#asked = battleId;
    try {
      const { models, movable } = await this.#ask(battleId);
      for (const name of ["explore-left", "explore-right"]) {
        const select = part(this.#root, name, HTMLSelectElement);
        select.length = 1;
        select.append(...models.map((model) => new Option(model.name, model.model_id)));
      }
      for (const option of part(this.#root, "explore-thing", HTMLSelectElement).options) {
        option.hidden = option.disabled = option.value !== "" && !movable.includes(option.value);
      }
    } catch {
      this.#asked = ""; // it is asked again when it is opened again
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

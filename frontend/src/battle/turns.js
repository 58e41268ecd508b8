// The instruction shown, and the battle's turns to choose from when there is more than one.

import { gettext } from "../i18n.js";
import { sayExploration } from "./explore.js";
import { sayStart, sayState } from "./starts.js";

export class TurnTabs {
  #headline;
  #list;
  #note;
  #template;
  #drawn = "";

  /** @param {HTMLElement} root @param {(turnId: string) => void} choose */
  constructor(root, choose) {
    this.#headline = root.querySelector("[data-part=headline]");
    this.#note = root.querySelector("[data-part=exploration-note]");
    this.#list = root.querySelector("[data-part=turns]");
    this.#template = root.querySelector("[data-part=turn-template]");
    this.idleHeadline = this.#headline.textContent;
    this.#list.addEventListener("click", ({ target }) => {
      const tab = target.closest("[data-turn]");
      if (tab) choose(tab.dataset.turn);
    });
  }

  render(battle, shown) {
    this.#headline.textContent = shown ? shown.instruction : this.idleHeadline;
    this.#headline.dataset.quoted = String(Boolean(shown));
    this.#note.hidden = !shown?.exploration;
    this.#note.textContent = shown?.exploration
      ? gettext("%(what)s: for looking, never counted", { what: sayExploration(shown.exploration, battle.turns) })
      : "";
    const wanted = JSON.stringify([shown?.turn_id, battle.turns.map(({ turn_id, status }) => [turn_id, status])]);
    if (wanted !== this.#drawn) this.#draw(battle, shown);
    this.#drawn = wanted;
  }

  /** Only when something changed: whoever stands on a tab with the keyboard stays there. */
  #draw(battle, shown) {
    const { turns } = battle;
    const focused = document.activeElement?.dataset?.turn;
    this.#list.hidden = turns.length < 2;
    this.#list.replaceChildren(...turns.map((turn) => this.#tab(turn, battle, turn === shown)));
    const current = this.#list.querySelector("[aria-pressed=true]");
    if (current) this.#list.scrollLeft = current.offsetLeft - this.#list.offsetLeft;
    if (focused) this.#list.querySelector(`[data-turn="${focused}"]`)?.focus();
  }

  #tab(turn, battle, current) {
    const item = this.#template.content.firstElementChild.cloneNode(true);
    const button = item.querySelector("[data-turn]");
    button.dataset.turn = turn.turn_id;
    button.dataset.exploration = String(Boolean(turn.exploration));
    button.setAttribute("aria-pressed", String(current));
    const start = sayStart(turn, battle);
    const name = start ?? (turn.exploration ? gettext("What if") : gettext("Turn %(number)s", { number: turn.seq }));
    button.dataset.status = turn.status;
    button.querySelector("[data-part=turn-seq]").textContent = name;
    button.querySelector("[data-part=turn-text]").textContent = start ? sayState(turn) : turn.instruction;
    return item;
  }
}

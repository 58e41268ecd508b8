// The instruction shown, and the battle's turns to choose from when there is more than one.

export class TurnTabs {
  #headline;
  #list;
  #template;

  /** @param {HTMLElement} root @param {(turnId: string) => void} choose */
  constructor(root, choose) {
    this.#headline = root.querySelector("[data-part=headline]");
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
    this.#list.hidden = battle.turns.length < 2;
    this.#list.replaceChildren(...battle.turns.map((turn) => this.#tab(turn, turn === shown)));
  }

  #tab(turn, current) {
    const item = this.#template.content.firstElementChild.cloneNode(true);
    const button = item.querySelector("[data-turn]");
    button.dataset.turn = turn.turn_id;
    button.setAttribute("aria-pressed", String(current));
    button.querySelector("[data-part=turn-seq]").textContent = `Turn ${turn.seq}`;
    button.querySelector("[data-part=turn-text]").textContent = turn.instruction;
    return item;
  }
}

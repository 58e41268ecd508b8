// Draws what needs a library, once that has come: colours of code, and formulas. Until then both are plain text.

/**
 * @typedef {{coloured: (code: string, language: string) => string | null}} Code
 * @typedef {{mathOf: (tex: string, display: boolean) => string | null}} Formulas
 */

export class Extras {
  #code;
  #formulas;

  /** @param {{code?: string, formulas?: string}} addresses of the libraries @param {() => void} came called with each of them */
  constructor({ code, formulas }, came) {
    this.#code = /** @type {Lazy<Code>} */ (new Lazy(code, came));
    this.#formulas = /** @type {Lazy<Formulas>} */ (new Lazy(formulas, came));
  }

  /** @param {HTMLElement} element that shows Markdown */
  draw(element) {
    for (const code of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("code[data-language]"))) {
      const html = this.#code.get()?.coloured(code.textContent ?? "", code.dataset.language ?? "");
      if (html) code.replaceChildren(parsed(html));
    }
    for (const formula of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll(".formula"))) {
      const html = this.#formulas.get()?.mathOf(formula.dataset.tex ?? "", formula.classList.contains("formula-display"));
      if (html) formula.replaceChildren(parsed(html));
    }
  }
}

/** A module that is fetched when it is first wanted. @template Module */
class Lazy {
  #address;
  #came;
  /** @type {Module | null} */
  #module = null;
  #asked = false;

  /** @param {string | undefined} address @param {() => void} came */
  constructor(address, came) {
    this.#address = address;
    this.#came = came;
  }

  get() {
    if (!this.#asked && this.#address) this.#fetch(this.#address);
    return this.#module;
  }

  /** @param {string} address */
  async #fetch(address) {
    this.#asked = true;
    try {
      this.#module = await import(address);
      this.#came();
    } catch {
      // What was written stays as it is.
    }
  }
}

/** Without styles of their own, which the page's policy refuses. @param {string} html of a library */
function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const each of template.content.querySelectorAll("[style]")) each.removeAttribute("style");
  return template.content;
}

// Finds elements of the page by their names in `data-` attributes.

/**
 * The element of a named part of the page.
 * @overload @param {ParentNode} root @param {string} name @returns {HTMLElement}
 */
/**
 * @template {HTMLElement} T
 * @overload @param {ParentNode} root @param {string} name @param {new () => T} type @returns {T}
 */
/** @param {ParentNode} root @param {string} name @param {new () => HTMLElement} type */
export function part(root, name, type = HTMLElement) {
  const found = root.querySelector(`[data-part=${name}]`);
  if (!(found instanceof type)) throw new TypeError(`the page has no ${type.name} named ${name}`);
  return found;
}

/** @param {Event} event @param {string} selector @returns {HTMLElement | null} the element that the event happened in */
export function closest({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/** @param {ParentNode} root @param {string} name of a template's part @returns {HTMLElement} a copy of its only element */
export function cloneOf(root, name) {
  const { firstElementChild } = part(root, name, HTMLTemplateElement).content;
  return /** @type {HTMLElement} */ (firstElementChild?.cloneNode(true));
}

/** @param {MouseEvent} event @returns whether a link is asked to open elsewhere */
export const opensElsewhere = (event) => event.ctrlKey || event.metaKey || event.shiftKey;

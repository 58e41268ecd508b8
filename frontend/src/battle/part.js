/** The element of a part of the page by its name. @returns {HTMLElement} */
export const part = (root, name) => root.querySelector(`[data-part=${name}]`);

// Strings in the visitor's language. Django's catalogue is a script of the page, loaded before any module and absent in
// English; `manage.py translations` finds the calls below, whose first arguments must therefore be literals in "". What the arena
// tells of a policy is in the catalogue, too: gettext() may be given its provenance and training data.

/**
 * @typedef {Record<string, unknown>} Values for `%(name)s` in a text
 * @typedef {object} Catalogue
 * @property {(text: string) => string} [gettext]
 * @property {(one: string, many: string, count: number) => string} [ngettext]
 * @property {(context: string, text: string) => string} [pgettext]
 */

const catalogue = /** @type {{django?: Catalogue}} */ (globalThis).django;

/** @param {string} text @param {Values} [values] */
export function gettext(text, values) {
  return fill(catalogue?.gettext?.(text) ?? text, values);
}

/**
 * The singular or plural form; `%(count)s` is the number.
 * @param {string} one @param {string} many @param {number} count @param {Values} [values]
 */
export function ngettext(one, many, count, values) {
  const text = catalogue?.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
  return fill(text, { count, ...values });
}

/** A string whose meaning depends on the context. @param {string} context @param {string} text @param {Values} [values] */
export function pgettext(context, text, values) {
  return fill(catalogue?.pgettext?.(context, text) ?? text, values);
}

/** The page's language, for dates and numbers. */
export const language = () => globalThis.document?.documentElement.lang || "en";

/** @param {string} text @param {Values} [values] */
function fill(text, values) {
  if (!values) return text;
  return text.replace(/%\((\w+)\)[sd]/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

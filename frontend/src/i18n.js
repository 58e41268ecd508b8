// Strings in the visitor's language. Django's catalogue is a script of the page, loaded before any module and absent in
// English; `manage.py translations` finds the calls below, whose first arguments must therefore be literals in "".

const catalogue = globalThis.django;

/** @param {string} text @param {Object<string, unknown>} [values] for `%(name)s` in the text */
export function gettext(text, values) {
  return fill(catalogue?.gettext?.(text) ?? text, values);
}

/** One form for one, another for all else; `%(count)s` is the number. */
export function ngettext(one, many, count, values) {
  const text = catalogue?.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
  return fill(text, { count, ...values });
}

/** A string that means something else elsewhere. */
export function pgettext(context, text, values) {
  return fill(catalogue?.pgettext?.(context, text) ?? text, values);
}

/** The page's language, for dates and numbers. */
export const language = () => globalThis.document?.documentElement.lang || "en";

function fill(text, values) {
  if (!values) return text;
  return text.replace(/%\((\w+)\)[sd]/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// What the arena tells of a robot's model with the vote. The core passes it on without reading it.

import { gettext, language } from "../core/i18n.js";

/**
 * @import { Introduced } from "../core/wire.d.ts"
 * @typedef {{parameters?: number | null, training_data?: string}} Facts
 */

/** @param {Introduced} model @returns {Facts} */
export const factsOf = ({ facts }) => /** @type {Facts} */ (facts);

/** "28M parameters", or "" if the number is unknown. @param {number | null | undefined} count */
export function sayParameters(count) {
  if (!count) return "";
  const short = new Intl.NumberFormat(language(), { notation: "compact", maximumSignificantDigits: 3 }).format(count);
  return gettext("%(number)s parameters", { number: short });
}

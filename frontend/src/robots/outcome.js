/** @import { RolloutOutcome, SideOfTurn } from "../core/wire.d.ts" */

/**
 * What physics says of a side. The core passes it on unread.
 * @param {SideOfTurn} side
 */
export function outcomeOf(side) {
  return /** @type {RolloutOutcome | undefined} */ (/** @type {unknown} */ (side.outcome));
}

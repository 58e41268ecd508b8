/** @import { RolloutOutcome, SideOfTurn } from "../core/wire.d.ts" */

/**
 * The measured outcome of a side. The core passes it on without reading it.
 * @param {SideOfTurn} side
 */
export function outcomeOf(side) {
  return /** @type {RolloutOutcome | undefined} */ (/** @type {unknown} */ (side.outcome));
}

// Things that rest sleep: what simulation/sleeping.py does, with the page's engine.

/**
 * @import { MainModule, MjData, MjModel, MjOption } from "@mujoco/mujoco"
 */

/** mjtSleepPolicy of a tree that never sleeps: what the compiler chose, and what a user chose. */
const NEVER = [1, 3];
/** mjData.tree_asleep of a tree that has just moved: -1 - mjMINAWAKE, which the bindings lack. */
export const WIDE_AWAKE = -11;

export class Sleep {
  #engine;
  #model;
  /** @type {MjOption} */
  #options;
  #robot;
  #flags;

  /** @param {MainModule} engine @param {MjModel} model with a robot, which never sleeps */
  constructor(engine, model) {
    this.#engine = engine;
    this.#model = model;
    this.#options = model.opt;
    this.#robot = model.tree_sleep_policy.findIndex((/** @type {number} */ policy) => NEVER.includes(policy));
    this.#flags = { sleep: engine.mjtEnableBit.mjENBL_SLEEP.value, island: engine.mjtDisableBit.mjDSBL_ISLAND.value };
  }

  /**
   * Lets things sleep during some work on data; other data of the model knows no sleep.
   * @template T @param {() => T} work @returns {T}
   */
  during(work) {
    const { enableflags, disableflags } = this.#options;
    this.#options.enableflags |= this.#flags.sleep;
    this.#options.disableflags &= ~this.#flags.island;
    try {
      return work();
    } finally {
      this.#options.enableflags = enableflags;
      this.#options.disableflags = disableflags;
    }
  }

  /**
   * Derives positions and inertias anew with nothing asleep, then lets these trees sleep. At the end of each control
   * step, so that physics goes on alike from there and from its record. Only within `during`.
   * @param {MjData} data @param {ArrayLike<number>} asleep mjData.tree_asleep; empty if nothing sleeps
   */
  derive(data, asleep) {
    const [engine, model] = [this.#engine, this.#model];
    const awake = new Int32Array(model.ntree).fill(WIDE_AWAKE);
    this.#put(data, awake);
    engine.mj_comPos(model, data);
    engine.mj_makeM(model, data);
    engine.mj_factorM(model, data);
    data.qacc_smooth.set(data.qacc_warmstart); // of what sleeps; steps compute the others
    data.qacc.set(data.qacc_warmstart);
    this.#put(data, asleep.length > 0 ? asleep : awake);
  }

  dispose() {
    this.#options.delete();
  }

  /** A robot that claims to be asleep is woken at once, upon which the engine renews its lists. @param {MjData} data @param {ArrayLike<number>} asleep */
  #put(data, asleep) {
    data.tree_asleep.set(asleep);
    data.tree_awake.set(Array.from(asleep, (tree) => Number(tree < 0)));
    data.tree_asleep[this.#robot] = this.#robot;
    data.tree_awake[this.#robot] = 1;
    this.#engine.mj_kinematics(this.#model, data);
  }
}

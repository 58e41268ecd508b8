// The interface of a kind of battle (robots, text, voice, ...) to the page. The core does everything else.

import type { Shortcut } from "./shortcuts.js";
import type { BattleJson, Exploration, TurnJson } from "./wire.d.ts";

/** A piece of a running turn, decoded by the kind. */
export type Chunk = unknown;

export interface Kind {
  words: KindWords;
  /** What a session is held in, by the keys of `sessions/init`; the page adds the kind itself. */
  setting: Record<string, string | undefined>;
  /** The type of the messages that bring chunks: "rollout.frames". What else they hold is made by the kind's `frames`. */
  chunkType: string;
  /** What `show` gets of such a message. Throws a TypeError for one that is no chunk. */
  readChunk(message: { turn_id: string }): Chunk;
  /** "Exploration from step 12 of turn 1" */
  sayFork(fork: Exploration, turns: TurnJson[]): string;
  createView(root: HTMLElement, host: ViewHost): BattleView;
}

/** The page's interface to a view. */
export interface ViewHost {
  /** Makes a call that adds a turn. Resolves to whether the turn was added. */
  startTurn(call: (battleId: string) => Promise<unknown>): Promise<boolean>;
}

/**
 * What is shown of both sides. Events: "ready" (`canShow` is true), "moment" (`moment` has changed). The vote opens once
 * `moment` has been settled for a completed turn, so a view that never says so lets nobody vote.
 */
export interface BattleView extends EventTarget {
  readonly shortcuts: Shortcut[];
  /** Whether chunks can be shown. */
  readonly canShow: boolean;
  /** The current turn; `settled`: it is completely known. */
  readonly moment: { turnId: string; settled: boolean } | null;
  load(): void;
  /** Shows everything about a turn except its chunks. */
  render(battle: BattleJson, turn: TurnJson | undefined): void;
  /** `chunks`: all that have come; none after a new load, when `GET episodes/{id}` tells the rest. */
  show(battle: BattleJson, turn: TurnJson | undefined, chunks: Chunk[]): void;
  /** `released`: the last released step, null before the first. */
  renderProgress(battle: BattleJson, turn: TurnJson | undefined, released: number | null): void;
  /** The last step in a chunk; null while that is unknown. */
  stepOf(chunk: Chunk): number | null;
  /** Called after the page's colours have changed. */
  refreshTheme(): void;
}

/** Sentences that name contestants by their kind. The keys of records are codes of the API. */
export interface KindWords {
  errors: Record<string, string>;
  /** Why the vote is closed; `..._of_several` for battles of several starts. */
  voteBlocked: Record<string, string>;
  failures: Record<string, string>;
  reasons: Record<string, string>;
  question: string;
  questionOfSeveral: string;
  emptyInstruction: string;
  instructionLabels: Record<"idle" | "settled" | "again" | "after" | "voted" | "abandoned", string>;
  busy: string;
  sent: string;
  waiting: string;
  starting: string;
  running: string;
  working: string;
  finished: string;
}

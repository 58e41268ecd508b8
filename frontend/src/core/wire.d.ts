// The JSON that the arena sends: written by scripts/wire_types.py, described where Python declares it.

export interface Revealed {
  model_id: string;
  name: string;
  family: string;
  provenance: string;
}

export interface Introduced {
  model_id: string;
  name: string;
  family: string;
  provenance: string;
  address: string | null;
  facts: Record<string, boolean | number | string | null>;
}

export interface SideOfTurn {
  episode_id: string;
  status: "queued" | "running" | "completed" | "failed";
  steps: number | null;
  error: "turn_failed" | "policy_failed" | "moderated" | "timeout" | "worker_lost" | "not_hosted" | "internal" | "cancelled" | null;
  outcome?: Record<string, boolean | number | string | null>;
}

export interface Exploration {
  turn_id: string | null;
  record: number | null;
  seed: number;
  left_model_id: string | null;
  right_model_id: string | null;
  moved: Record<string, Array<number>>;
}

export interface GoalJson {
  task_id: string;
  text: string;
}

export interface TurnJson {
  turn_id: string;
  seq: number;
  instruction: string;
  goal: GoalJson | null;
  start: "continue" | "reset";
  start_number: number | null;
  status: "queued" | "running" | "completed" | "failed";
  release_from: string | null;
  step_s: number;
  max_steps: number;
  created_at: string;
  exploration: Exploration | null;
  left: SideOfTurn;
  right: SideOfTurn;
}

export interface EndOfStart {
  success: boolean | null;
  progress: number | null;
}

export interface StartJson {
  number: number;
  turn_id: string;
  seq: number;
  seed: number;
  left: EndOfStart;
  right: EndOfStart;
}

export interface VoteJson {
  vote_id: string;
  vote: "left_better" | "right_better" | "tie" | "both_bad";
  reasons: Record<string, "left" | "right" | "equal" | null>;
  voted_at: string;
}

export interface AllowedActions {
  status: "ongoing" | "voted" | "abandoned";
  can_vote: boolean;
  vote_blocked_because: "no_completed_turn" | "starts_missing" | "turn_running" | "already_voted" | "battle_closed" | null;
  can_send: boolean;
  can_explore: boolean;
  start_count: number;
}

export interface BattleJson {
  status: "ongoing" | "voted" | "abandoned";
  can_vote: boolean;
  vote_blocked_because: "no_completed_turn" | "starts_missing" | "turn_running" | "already_voted" | "battle_closed" | null;
  can_send: boolean;
  can_explore: boolean;
  start_count: number;
  battle_id: string;
  session_id: string;
  kind: string;
  seq: number;
  left_model: "???" | Introduced;
  right_model: "???" | Introduced;
  turns: Array<TurnJson>;
  vote: VoteJson | null;
  secret: string | null;
  starts: Array<StartJson> | null;
}

export interface SharedBattle {
  battle_id: string;
  kind: string;
  left_model: Introduced;
  right_model: Introduced;
  turns: Array<TurnJson>;
  vote: VoteJson;
  starts: Array<StartJson> | null;
}

export interface BattleRow {
  battle_id: string;
  seq: number;
  status: "ongoing" | "voted" | "abandoned";
  title: string | null;
  created_at: string;
  left_model: "???" | Revealed;
  right_model: "???" | Revealed;
  vote: "left_better" | "right_better" | "tie" | "both_bad" | null;
}

export interface SessionRow {
  session_id: string;
  user_id: string | null;
  title: string | null;
  latest_title: string | null;
  latest_vote: "left_better" | "right_better" | "tie" | "both_bad" | null;
  kind: string;
  created_at: string;
  last_active_at: string;
  battle_count: number;
  last_battle_id: string | null;
  last_status: "ongoing" | "voted" | "abandoned" | null;
  last_vote: "left_better" | "right_better" | "tie" | "both_bad" | null;
}

export interface SessionJson {
  session_id: string;
  user_id: string | null;
  title: string | null;
  kind: string;
  created_at: string;
  last_active_at: string;
  battles: Array<BattleRow>;
}

export interface SessionList {
  results: Array<SessionRow>;
}

export interface BattleList {
  results: Array<BattleRow>;
}

export interface OpenedBattle {
  session_id: string;
  battle_id: string;
  kind: string;
  left_model: "???";
  right_model: "???";
}

export interface SentStart {
  turn_id: string;
  left_episode_id: string;
  right_episode_id: string;
}

export interface SentTurn {
  turn_id: string;
  left_episode_id: string;
  right_episode_id: string;
  status: "queued" | "running" | "completed" | "failed";
  starts?: Array<SentStart>;
}

export interface RevealedModels {
  left: Revealed;
  right: Revealed;
}

export interface CastVote {
  vote_id: string;
  revealed_models: RevealedModels;
}

export interface ProgressJson {
  left: number | null;
  right: number | null;
}

export interface FeedbackJson {
  battle_id: string;
  reasons: Record<string, "left" | "right" | "equal" | null>;
  why: string;
  progress: ProgressJson;
  updated_at: string | null;
}

export interface GallerySide {
  model_id: string;
  name: string;
  episode_id: string;
  thumbnail: string | null;
}

export interface GalleryRow {
  battle_id: string;
  kind: string;
  instruction: string;
  task: string | null;
  vote: "left_better" | "right_better" | "tie" | "both_bad";
  voted_at: string;
  left: GallerySide;
  right: GallerySide;
  disagreement: boolean;
  near_miss: boolean;
  upset: boolean | null;
  views: number;
}

export interface GalleryPage {
  results: Array<GalleryRow>;
  next: string | null;
}

export interface OEmbedJson {
  version: "1.0";
  type: "rich";
  title: string;
  provider_name: string;
  provider_url: string;
  html: string;
  width: number;
  height: number;
  thumbnail_url: string;
  thumbnail_width: number;
  thumbnail_height: number;
}

export interface JudgeAgreement {
  battles: number;
  share: number | null;
  low: number | null;
  high: number | null;
  kappa: number | null;
  missing: string;
}

export interface ErrorJson {
  code: string;
  detail: string;
}

export interface Event {
  type: string;
  seq: number;
}

export interface TurnOpened {
  type: "turn.opened";
  seq: number;
  turn: TurnJson;
  battle: AllowedActions;
}

export interface RolloutStarted {
  type: "rollout.started";
  seq: number;
  turn_id: string;
  release_from: string;
}

export interface RolloutFinished {
  type: "rollout.finished";
  seq: number;
  turn_id: string;
  side: "left" | "right";
  episode_id: string;
  steps: number;
  url: string;
}

export interface RolloutFailed {
  type: "rollout.failed";
  seq: number;
  turn_id: string;
  side: "left" | "right";
  steps: number | null;
  reason: "turn_failed" | "policy_failed" | "moderated" | "timeout" | "worker_lost" | "not_hosted" | "internal" | "cancelled";
}

export interface TurnFinished {
  type: "turn.finished";
  seq: number;
  turn_id: string;
  status: "completed" | "failed";
  battle: AllowedActions;
  turn: TurnJson | null;
}

export interface BattleVoted {
  type: "battle.voted";
  seq: number;
  vote: VoteJson;
  left_model: Introduced;
  right_model: Introduced;
  secret: string | null;
  turns: Array<TurnJson>;
  starts: Array<StartJson> | null;
  battle: AllowedActions;
}

export interface BattleEvaluated {
  type: "battle.evaluated";
  seq: number;
  turns: Array<TurnJson>;
}

export interface BattleAbandoned {
  type: "battle.abandoned";
  seq: number;
  battle: AllowedActions;
}

export interface QueueJson {
  ahead: number;
  expected_wait_s: number | null;
}

export interface PairRecord {
  votes: number;
  left_better: number;
  right_better: number;
  tie: number;
  both_bad: number;
}

export interface ModelVotes {
  left: number;
  right: number;
}

export interface VoteEffect {
  pair: PairRecord;
  model_votes: ModelVotes;
}

export interface RolloutOutcome {
  success: boolean | null;
  progress: number | null;
  termination_reason: string;
  steps: number;
  duration_ms: number | null;
  start_hash: string;
}

export interface RolloutFrames {
  type: "rollout.frames";
  turn_id: string;
  from_row: number;
  left: string;
  right: string;
}

export interface EpisodeState {
  time: number;
  qpos: Array<number>;
  qvel: Array<number>;
}

export interface EpisodeJson {
  episode_id: string;
  turn_id: string;
  side: "left" | "right";
  instruction: string;
  robot_id: string;
  scene_id: string;
  actions: Array<Array<number>>;
  states: Array<EpisodeState>;
  engine_version: string;
  scene_hash: string;
  start_hash: string | null;
  outcome: RolloutOutcome | null;
  exact: boolean;
  secret: string | null;
  render_profile: string | null;
}

export interface BattleStart {
  battle_id: string;
  start: string | null;
  left_out: Array<string> | null;
}

export type BattleEvent = TurnOpened | RolloutStarted | RolloutFinished | RolloutFailed | TurnFinished | BattleVoted | BattleEvaluated | BattleAbandoned;

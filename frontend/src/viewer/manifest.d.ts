// A scene's manifest.json (see simulation/bundle.py), with addresses added by the API.

import type { Vector3Tuple, Vector4Tuple } from "three";

export interface SceneCamera {
  name: string;
  /** [m] */
  pos: Vector3Tuple;
  /** w, x, y, z */
  quat: Vector4Tuple;
  /** Vertical, in degrees. */
  fovy: number;
}

/** The names of parts in the compiled model. */
export interface PartNames {
  tool_site: string;
  pads: string[];
  robot_prefix: string;
  objects: string[];
}

export interface Manifest extends PartNames {
  engine_version: string;
  control_hz: number;
  ramp: { pieces: number; substeps: number };
  /** Per actuator, where in the control memory its command is. */
  motors: { column: number; ramped: boolean; stride?: number }[];
  control_size: number;
  action_space: string;
  action_size: number;
  action: { name: string; unit: string }[];
  /** `rows_per_step`: in a step of the clock that visitors see, whatever the control rate. */
  view: { rate_hz: number; rows_per_step: number; scale: number[] };
  /** The state to show before anything was played (nq). */
  home: number[];
  cameras: SceneCamera[];
  xml_url: string;
  /** The order of the faces of meshes that touch things (see polygons.js), by their names. */
  polygons?: Record<string, number[]>;
  assets: { name: string; url: string; bytes: number }[];
}

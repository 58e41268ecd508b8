// A material for software rendering: lit per vertex instead of per pixel, and computed in display colours.
// It looks like three's Lambert material under the same lights, at about half of its cost in a software renderer.

import * as THREE from "three";

const RIM_STRENGTH = 0.4;

const VERTEX = /* glsl */ `
  uniform vec3 colour;
  uniform vec3 sky;
  uniform vec3 ground;
  uniform vec3 lamp;
  uniform vec3 towardsLamp;
  uniform vec3 rim;
  varying vec3 shade;
  #ifdef TEXTURED
    uniform mat3 repeat;
    varying vec2 place;
  #endif
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    vec3 across = normalize(mat3(modelMatrix) * normal);
    vec3 light = mix(ground, sky, 0.5 * across.z + 0.5) + lamp * max(dot(across, towardsLamp), 0.0);
    shade = pow(colour * light / ${Math.PI}, vec3(1.0 / 2.2));
    float away = 1.0 - max(dot(mat3(viewMatrix) * across, -normalize(seen.xyz)), 0.0);
    shade += rim * away * away * away;
    #ifdef TEXTURED
      place = (repeat * vec3(uv, 1.0)).xy;
    #endif
    gl_Position = projectionMatrix * seen;
  }`;

// A texture's pixels are display colours already, which may be multiplied: (a b)^(1/2.2) = a^(1/2.2) b^(1/2.2).
const FRAGMENT = /* glsl */ `
  uniform float opacity;
  varying vec3 shade;
  #ifdef TEXTURED
    uniform sampler2D map;
    varying vec2 place;
  #endif
  void main() {
    #ifdef TEXTURED
      gl_FragColor = vec4(shade * texture2D(map, place).rgb, opacity);
    #else
      gl_FragColor = vec4(shade, opacity);
    #endif
  }`;

/**
 * @typedef {ReturnType<typeof quickLight>} QuickLight
 * @typedef {{color: THREE.Color, transparent: boolean, opacity: number, map: THREE.Texture | null}} Look
 */

/**
 * The lights that all quick materials of a scene share.
 * @param {THREE.HemisphereLight} hemisphere @param {THREE.DirectionalLight} lamp
 */
export function quickLight(hemisphere, lamp) {
  /** @param {THREE.Color} colour @param {THREE.Light} light */
  const strong = (colour, light) => ({ value: colour.clone().multiplyScalar(light.intensity) });
  return {
    sky: strong(hemisphere.color, hemisphere),
    ground: strong(hemisphere.groundColor, hemisphere),
    lamp: strong(lamp.color, lamp),
    towardsLamp: { value: lamp.position.clone().sub(lamp.target.position).normalize() },
  };
}

/**
 * @param {Look} look as for other materials; the pixels of `map` must not be converted (NoColorSpace)
 * @param {QuickLight} light @param {THREE.Color | null} rim of the light from behind on its outline; null: it has none
 */
export function quickMaterial({ color, transparent, opacity, map }, light, rim) {
  map?.updateMatrix();
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    defines: map ? { TEXTURED: "" } : {},
    transparent,
    uniforms: {
      ...light,
      colour: { value: color },
      rim: { value: (rim ?? new THREE.Color("black")).clone().multiplyScalar(RIM_STRENGTH) },
      opacity: { value: opacity },
      ...(map && { map: { value: map }, repeat: { value: map.matrix } }),
    },
  });
}

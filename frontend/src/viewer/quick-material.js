// A material for software rendering: lit per vertex instead of per pixel, and computed in display colours.
// It looks like three's Lambert material under the same lights, at about half of its cost in a software renderer.

import * as THREE from "three";

const VERTEX = /* glsl */ `
  uniform vec3 colour;
  uniform vec3 sky;
  uniform vec3 ground;
  uniform vec3 lamp;
  uniform vec3 towardsLamp;
  varying vec3 shade;
  varying float depth;
  #ifdef TEXTURED
    uniform mat3 repeat;
    varying vec2 place;
  #endif
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    vec3 across = normalize(mat3(modelMatrix) * normal);
    vec3 light = mix(ground, sky, 0.5 * across.y + 0.5) + lamp * max(dot(across, towardsLamp), 0.0);
    shade = pow(colour * light / ${Math.PI}, vec3(1.0 / 2.2));
    depth = -seen.z;
    #ifdef TEXTURED
      place = (repeat * vec3(uv, 1.0)).xy;
    #endif
    gl_Position = projectionMatrix * seen;
  }`;

// A texture's pixels are display colours already, which may be multiplied: (a b)^(1/2.2) = a^(1/2.2) b^(1/2.2).
const FRAGMENT = /* glsl */ `
  uniform vec3 haze;
  uniform vec2 hazeFromTo;
  uniform float opacity;
  varying vec3 shade;
  varying float depth;
  #ifdef TEXTURED
    uniform sampler2D map;
    varying vec2 place;
  #endif
  void main() {
    vec3 found = shade;
    #ifdef TEXTURED
      found *= texture2D(map, place).rgb;
    #endif
    gl_FragColor = vec4(mix(found, haze, smoothstep(hazeFromTo.x, hazeFromTo.y, depth)), opacity);
  }`;

/**
 * @typedef {ReturnType<typeof quickLight>} QuickLight
 * @typedef {{color: THREE.Color, transparent: boolean, opacity: number, map: THREE.Texture | null}} Look
 */

/**
 * The lights and the haze that all quick materials of a scene share; `haze` has the colour of the background.
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
    haze: { value: new THREE.Color() },
    hazeFromTo: { value: new THREE.Vector2() },
  };
}

/**
 * Makes the quick materials of a scene fade into its background, like its fog.
 * @param {QuickLight} light @param {THREE.Fog} fog
 */
export function setHaze(light, fog) {
  light.haze.value.copy(fog.color).convertLinearToSRGB();
  light.hazeFromTo.value.set(fog.near, fog.far);
}

/**
 * @param {Look} look as for other materials; the pixels of `map` must not be converted (NoColorSpace)
 * @param {QuickLight} light
 */
export function quickMaterial({ color, transparent, opacity, map }, light) {
  map?.updateMatrix();
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    defines: map ? { TEXTURED: "" } : {},
    transparent,
    uniforms: {
      ...light,
      colour: { value: color },
      opacity: { value: opacity },
      ...(map && { map: { value: map }, repeat: { value: map.matrix } }),
    },
  });
}

// The page's colours as numbers. A custom property is only text (`light-dark(...)`), which a real property resolves.

/**
 * @param {string} name of a custom property, such as "--left"
 * @returns {string} the colour in the current theme, such as "rgb(15, 115, 131)"
 */
export function colourOf(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.documentElement.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// Rows of live frames as the server sends them.

/** int16, little-endian, base64. */
export function base64Of(...values) {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, i) => void bytes.writeInt16LE(value, 2 * i));
  return bytes.toString("base64");
}

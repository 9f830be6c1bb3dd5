/** Basic linear algebra on flat arrays. */

export const dot = (left: Float32Array, right: Float32Array): number => {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!
  return sum
}

/** Adds a multiple of a vector in place: `into += factor × vector`. */
export const addScaled = (into: Float32Array, factor: number, vector: Float32Array): void => {
  for (let index = 0; index < into.length; index++) into[index]! += factor * vector[index]!
}

/** Scales a vector to unit length. The zero vector is returned unchanged. */
export const unit = (vector: Float32Array): Float32Array => {
  const length = Math.sqrt(dot(vector, vector))
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** Encodes a vector as text for storage in files. */
export const textOf = (vector: Float32Array): string => {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString("base64")
}

/** Decodes a vector that was encoded by {@link textOf}. */
export const pointOf = (text: string): Float32Array => {
  const bytes = Buffer.from(text, "base64")
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4))
}

/** Returns the index of the largest value, the first one in case of ties. Returns -1 for an empty array. */
export const argmax = (values: ReadonlyArray<number>): number =>
  values.reduce((best, value, index) => (best < 0 || value > values[best]! ? index : best), -1)

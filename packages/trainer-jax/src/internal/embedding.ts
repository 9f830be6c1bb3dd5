/**
 * Looks up embeddings and accumulates their gradients on the CPU by copying rows. A compiled pass would use one-hot
 * matrices.
 */

/** Returns the embeddings of tokens, concatenated; zeros for -1. */
export const lookUp = (table: Float32Array, tokens: Int32Array, size: number): Float32Array<ArrayBuffer> => {
  const found = new Float32Array(tokens.length * size)
  for (const [place, token] of tokens.entries()) {
    if (token >= 0) found.set(table.subarray(token * size, (token + 1) * size), place * size)
  }
  return found
}

/** Adds the gradients of looked-up embeddings to the gradient of the table. */
export const addLookups = (sums: Float32Array, gradients: Float32Array, tokens: Int32Array, size: number): void => {
  for (const [place, token] of tokens.entries()) {
    if (token < 0) continue
    for (let index = 0; index < size; index++) {
      const at = token * size + index
      sums[at] = sums[at]! + gradients[place * size + index]!
    }
  }
}

/**
 * A tensor: a shape, and numbers that are in memory or arrive in chunks.
 *
 * Shapes and element order are as in NumPy and PyTorch: row-major, with the last dimension varying fastest; a linear
 * layer's weight is `[out, in]`. (GGUF files store dimensions in reverse order, which this package handles.)
 */

/** Consecutive numbers of a tensor, in chunks of any length. The same buffer may be reused for all chunks. */
export type Chunks = Iterable<Float32Array> | AsyncIterable<Float32Array>

/** A tensor whose numbers may not fit into memory. Each call of a function returns them in chunks from the start. */
export interface Tensor {
  readonly shape: ReadonlyArray<number>
  readonly data: Float32Array | (() => Chunks)
}

/** A tensor with its numbers in memory. */
export interface DenseTensor extends Tensor {
  readonly data: Float32Array
}

/** Returns the number of elements of a shape; 1 for the empty shape. */
export const size = (shape: ReadonlyArray<number>): number => shape.reduce((product, length) => product * length, 1)

/** Returns the numbers in chunks, whether or not they are in memory. */
export const chunks = (tensor: Tensor): Chunks => (typeof tensor.data === "function" ? tensor.data() : [tensor.data])

/**
 * Returns all numbers in one array.
 *
 * **Gotchas**
 *
 * The array contains all numbers from the source, even if the shape implies a different number.
 */
export const collect = async (tensor: Tensor): Promise<Float32Array> => {
  if (typeof tensor.data !== "function") return tensor.data
  const parts: Array<Float32Array> = []
  for await (const part of tensor.data()) parts.push(part.slice())
  const all = new Float32Array(parts.reduce((total, part) => total + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/**
 * A tensor: a shape, and values that are in memory or read in chunks.
 *
 * Shapes and element order follow NumPy and PyTorch: row-major, with the last dimension varying fastest. The weight of
 * a linear layer is `[out, in]`. (GGUF files store dimensions in reverse order; this package converts them.)
 */

/** Consecutive values of a tensor, in chunks of any length. The buffer may be reused between chunks. */
export type Chunks = Iterable<Float32Array> | AsyncIterable<Float32Array>

/**
 * A tensor that may be larger than memory. If `data` is a function, each call returns the values in chunks from the
 * start.
 */
export interface Tensor {
  readonly shape: ReadonlyArray<number>
  readonly data: Float32Array | (() => Chunks)
}

/** A tensor with all values in memory. */
export interface DenseTensor extends Tensor {
  readonly data: Float32Array
}

/** Returns the number of elements of a shape. The empty shape has 1. */
export const size = (shape: ReadonlyArray<number>): number => shape.reduce((product, length) => product * length, 1)

/**
 * Returns the values of a tensor in chunks, whether or not they are in memory.
 *
 * @internal
 */
export const chunks = (tensor: Tensor): Chunks => (typeof tensor.data === "function" ? tensor.data() : [tensor.data])

/**
 * Reads all values of a tensor into one array.
 *
 * **Gotchas**
 *
 * The array contains every value from the source, even if their number does not match the shape.
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

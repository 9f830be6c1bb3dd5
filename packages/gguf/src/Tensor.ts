/**
 * A tensor: a shape, and numbers that are at hand or come in pieces.
 *
 * Shapes and orders are those of NumPy and PyTorch: row-major, the last dimension runs fastest, a linear layer's weight
 * is `[out, in]`. (Inside a GGUF file dimensions stand in reverse; nobody outside this package needs to know.)
 */

/** Consecutive numbers of a tensor, in pieces of any length; one buffer may serve for all of them. */
export type Chunks = Iterable<Float32Array> | AsyncIterable<Float32Array>

/** A tensor whose numbers may be too many to hold at once: a function gives them anew, in pieces, each time. */
export interface Tensor {
  readonly shape: ReadonlyArray<number>
  readonly data: Float32Array | (() => Chunks)
}

/** A tensor with its numbers in memory. */
export interface DenseTensor extends Tensor {
  readonly data: Float32Array
}

/** How many numbers a shape holds: 1 for the empty one. */
export const size = (shape: ReadonlyArray<number>): number => shape.reduce((product, length) => product * length, 1)

/** The numbers in pieces, wherever they are. */
export const chunks = (tensor: Tensor): Chunks => (typeof tensor.data === "function" ? tensor.data() : [tensor.data])

/**
 * All numbers in one array.
 *
 * **Gotchas**
 *
 * A source that gives another count than the shape holds makes an array of that other count.
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

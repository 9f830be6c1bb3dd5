/**
 * A tensor: a shape, and numbers that are in memory or come in pieces.
 *
 * Shapes and orders are those of NumPy and PyTorch: row-major, the last dimension runs fastest, a linear layer's weight
 * is `[out, in]`. (GGUF files have dimensions in reverse; only this package needs to know.)
 */

/** Consecutive numbers of a tensor, in pieces of any length; one buffer may serve for all of them. */
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

/** The number of elements of a shape; 1 for the empty shape. */
export const size = (shape: ReadonlyArray<number>): number => shape.reduce((product, length) => product * length, 1)

/** The numbers in pieces, wherever they are. */
export const chunks = (tensor: Tensor): Chunks => (typeof tensor.data === "function" ? tensor.data() : [tensor.data])

/**
 * All numbers in one array.
 *
 * **Gotchas**
 *
 * The array has as many numbers as the source gives, even if the shape implies another number.
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

/**
 * Converts between the row orders of attention heads: halves, as in PyTorch's rotary embedding, and adjacent pairs, as
 * in llama.cpp's.
 */
import type { Chunks } from "../Tensor.ts"

/** Moves row `j * half + i` of a head to row `2 * i + j`. Each row has `width` values. */
const interleaveHead = (head: Float32Array, width: number): Float32Array => {
  const rows = head.length / width
  const ordered = new Float32Array(head.length)
  for (let row = 0; row < rows; row++) {
    const from = (row % 2) * (rows / 2) + (row >> 1)
    ordered.set(head.subarray(from * width, (from + 1) * width), row * width)
  }
  return ordered
}

/** Restores the row order of every head, the inverse of {@link interleave}. `rows` is the number of rows per head. */
export const separate = (numbers: Float32Array, rows: number, width: number): Float32Array => {
  const ordered = new Float32Array(numbers.length)
  for (let row = 0; row * width < numbers.length; row++) {
    const inHead = row % rows
    const to = row - inHead + (inHead % 2) * (rows / 2) + (inHead >> 1)
    ordered.set(numbers.subarray(row * width, (row + 1) * width), to * width)
  }
  return ordered
}

/**
 * Reorders the rows of every head, with one head in memory at a time.
 *
 * `rows` is the number of rows per head and `width` the number of values per row. An incomplete last head is passed
 * through unchanged, so that the writer can report it.
 */
export async function* interleave(chunks: Chunks, rows: number, width: number): AsyncGenerator<Float32Array> {
  const head = new Float32Array(rows * width)
  let filled = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + head.length - filled)
      head.set(taken, filled)
      filled += taken.length
      at += taken.length
      if (filled < head.length) continue
      yield interleaveHead(head, width)
      filled = 0
    }
  }
  if (filled > 0) yield head.subarray(0, filled)
}

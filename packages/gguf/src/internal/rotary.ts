/**
 * The order of rows in a head: halves, as PyTorch's rotary embedding pairs them, or neighbours, as llama.cpp's does.
 */
import type { Chunks } from "../Tensor.ts"

/** Row `j * half + i` of a head goes to row `2 * i + j`: numbers of one head, `width` to a row. */
const interleaveHead = (head: Float32Array, width: number): Float32Array => {
  const rows = head.length / width
  const ordered = new Float32Array(head.length)
  for (let row = 0; row < rows; row++) {
    const from = (row % 2) * (rows / 2) + (row >> 1)
    ordered.set(head.subarray(from * width, (from + 1) * width), row * width)
  }
  return ordered
}

/** Puts the rows of every head back: the inverse of {@link interleave}. `rows` is the number of rows of a head. */
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
 * Reorders the rows of every head, one head in memory at a time.
 *
 * `rows` is the number of rows of a head and `width` the numbers of a row. An incomplete last head is passed on as it
 * is, so that the writer can report it.
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

/** Numbers of 8 bits, in blocks of 32 that share a scale of half precision: what llama.cpp calls Q8_0. */
import * as Float16 from "./float16.ts"

/** How many numbers a block has, and how many bytes. */
export const block = { count: 32, bytes: 34 }

const largest = 127

/**
 * The blocks of some numbers, of which there are as many as fill them; or the first number that is not finite, or too
 * large.
 */
export const encode = (values: Float32Array): Uint8Array<ArrayBuffer> | number => {
  const bytes = new Uint8Array((values.length / block.count) * block.bytes)
  const view = new DataView(bytes.buffer)
  const [scale, half] = [new Float32Array(1), new Uint16Array(1)]
  for (let at = 0, to = 0; at < values.length; at += block.count, to += block.bytes) {
    let most = 0
    for (let index = at; index < at + block.count; index++) {
      const value = values[index]!
      if (!(Math.abs(value) <= largest * Float16.largest)) return value
      most = Math.max(most, Math.abs(value))
    }
    scale[0] = most / largest
    Float16.encode(scale, half)
    view.setUint16(to, half[0]!, true)
    const inverse = most === 0 ? 0 : largest / most
    for (let index = 0; index < block.count; index++) {
      view.setInt8(to + 2 + index, Math.round(values[at + index]! * inverse))
    }
  }
  return bytes
}

/** The numbers of whole blocks. */
export const decode = (bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> => {
  const values = new Float32Array((bytes.length / block.bytes) * block.count)
  const view = new DataView(bytes.buffer)
  const half = new Uint16Array(1)
  for (let at = 0, from = 0; at < values.length; at += block.count, from += block.bytes) {
    half[0] = view.getUint16(from, true)
    const scale = Float16.decode(half)[0]!
    for (let index = 0; index < block.count; index++) values[at + index] = view.getInt8(from + 2 + index) * scale
  }
  return values
}

/** The same numbers in pieces that each fill blocks; what is left over at the end comes as it is. */
export async function* filling(
  chunks: Iterable<Float32Array> | AsyncIterable<Float32Array>
): AsyncGenerator<Float32Array> {
  let rest = new Float32Array(0)
  for await (const chunk of chunks) {
    const all = new Float32Array(rest.length + chunk.length)
    all.set(rest)
    all.set(chunk, rest.length)
    const whole = all.length - (all.length % block.count)
    if (whole > 0) yield all.subarray(0, whole)
    rest = all.slice(whole)
  }
  if (rest.length > 0) yield rest
}

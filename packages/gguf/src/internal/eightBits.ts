/** Q8_0, llama.cpp's 8-bit format: blocks of 32 numbers that share a half-precision scale. */
import * as Float16 from "./float16.ts"

/** Number of values per block, and block size in bytes. */
export const block = { count: 32, bytes: 34 }

const largest = 127

/**
 * Encodes values whose count is a multiple of the block length. If a value is not finite or is too large, returns that
 * value instead of the bytes.
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

/** Decodes whole blocks. */
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

/** Regroups chunks so that each fills whole blocks. A remainder at the end is passed through. */
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

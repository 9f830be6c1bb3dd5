/** Q4_1, llama.cpp's 4-bit format: blocks of 32 numbers that share a half-precision scale and minimum. */
import * as Float16 from "./float16.ts"

/** Number of values per block, and block size in bytes: two halves, then two values per byte. */
export const block = { count: 32, bytes: 20 }

/**
 * Decodes whole blocks. The first half of a block is in the low bits of its bytes, the second half in the high bits.
 */
export const decode = (bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> => {
  const values = new Float32Array((bytes.length / block.bytes) * block.count)
  const view = new DataView(bytes.buffer)
  const half = block.count / 2
  const halves = new Uint16Array(2)
  for (let at = 0, from = 0; at < values.length; at += block.count, from += block.bytes) {
    halves[0] = view.getUint16(from, true)
    halves[1] = view.getUint16(from + 2, true)
    const singles = Float16.decode(halves)
    const scale = singles[0]!
    const least = singles[1]!
    for (let index = 0; index < half; index++) {
      const pair = bytes[from + 4 + index]!
      values[at + index] = (pair & 15) * scale + least
      values[at + half + index] = (pair >>> 4) * scale + least
    }
  }
  return values
}

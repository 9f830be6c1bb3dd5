/** Half-precision conversion. Node 22 does not have `Float16Array`. */

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** The largest finite half-precision number. */
export const largest = 65504

/** Encodes a subnormal half. Adding 0.5 aligns its last bit with the last bit of single precision, which rounds it. */
const subnormal = (magnitude: number): number => {
  bits[0] = magnitude
  float[0] = float[0]! + 0.5
  return bits[0]! - 0x3f000000
}

/** Converts a single to the nearest half, ties to even. Values that are too large become infinite. */
const encodeBits = (value: number): number => {
  const sign = (value >>> 16) & 0x8000
  const magnitude = value & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude < 0x38800000) return sign | subnormal(magnitude)
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13)
}

/**
 * Encodes `values` as halves into `into`. Returns the index of the first finite value that does not fit into a half, or
 * -1.
 */
export const encode = (values: Float32Array, into: Uint16Array): number => {
  const source = new Uint32Array(values.buffer, values.byteOffset, values.length)
  let lost = -1
  for (let index = 0; index < values.length; index++) {
    const half = encodeBits(source[index]!)
    into[index] = half
    if (lost < 0 && (half & 0x7fff) === 0x7c00 && Number.isFinite(values[index])) lost = index
  }
  return lost
}

/** Decodes one half. */
const decodeOne = (half: number): number => {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >>> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** The decoded value of every half. */
const table = Float32Array.from({ length: 65536 }, (_, half) => decodeOne(half))

/** Decodes halves to singles. */
export const decode = (halves: Uint16Array): Float32Array<ArrayBuffer> => {
  const values = new Float32Array(halves.length)
  for (let index = 0; index < halves.length; index++) values[index] = table[halves[index]!]!
  return values
}

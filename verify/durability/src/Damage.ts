/** Damages files in the way that disks and interrupted copies do, based on a seed. */
import { Seed } from "@divisi/core"

/** Bytes that were changed, and how. */
export interface Damaged {
  readonly bytes: Buffer
  readonly how: string
}

const below = (draw: Seed.Draw, count: number) => Seed.below(draw, Math.max(1, count))

const flip = (bytes: Buffer, draw: Seed.Draw): Damaged => {
  const changed = Buffer.from(bytes)
  const bit = below(draw, bytes.length * 8)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return { bytes: changed, how: `bit ${bit} turned` }
}

const cut = (bytes: Buffer, draw: Seed.Draw): Damaged => {
  const at = below(draw, bytes.length)
  return { bytes: bytes.subarray(0, at), how: `cut after ${at} bytes` }
}

/** A block of a disk that reads as zeros, or as what another block holds. */
const block = (bytes: Buffer, draw: Seed.Draw): Damaged => {
  const length = 1 + below(draw, Math.min(4096, bytes.length))
  const at = below(draw, bytes.length - length)
  const changed = Buffer.from(bytes)
  const from = below(draw, bytes.length - length)
  if (Seed.chance(draw, 0.5)) changed.fill(0, at, at + length)
  else bytes.copy(changed, at, from, from + length)
  return { bytes: changed, how: `${length} bytes overwritten at ${at}` }
}

const lose = (bytes: Buffer, draw: Seed.Draw): Damaged => {
  const length = 1 + below(draw, Math.min(4096, bytes.length))
  const at = below(draw, bytes.length - length)
  return {
    bytes: Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
    how: `${length} bytes lost at ${at}`
  }
}

/** Damages bytes at one position: changes a bit, cuts off the end, or overwrites a block. */
export const make = (bytes: Buffer, seed: number): Damaged => {
  const draw = Seed.draw(seed)
  const kinds = bytes.length === 0 ? [cut] : [flip, flip, flip, cut, block, lose]
  return Seed.pick(draw, kinds)(bytes, draw)
}

/** Merges the tokens of a word in llama.cpp's order: by priority, then from left to right. */
import TinyQueue from "tinyqueue"

/** Merges indexed by the id of the left token, then of the right token. */
export type Merges = ReadonlyMap<number, ReadonlyMap<number, { readonly rank: number; readonly id: number }>>

/** A pair of adjacent tokens that can be merged, recorded when it was queued. */
interface Candidate {
  readonly at: number
  readonly left: number
  readonly right: number
  readonly rank: number
  readonly id: number
}

const inOrder = (left: Candidate, right: Candidate) => left.rank - right.rank || left.at - right.at

/** Merges tokens until no adjacent pair can be merged, and returns them. Takes O(n log n) time. */
export const mergeWord = (bytes: ReadonlyArray<number>, merges: Merges): ReadonlyArray<number> => {
  // Each token is stored at the index of its first byte; merged positions contain -1. `next` and `previous` skip them.
  const tokens = bytes.slice()
  const next = bytes.map((_, at) => at + 1)
  const previous = bytes.map((_, at) => at - 1)
  const queue = new TinyQueue<Candidate>([], inOrder)

  const consider = (at: number) => {
    const left = tokens[at]
    const right = tokens[next[at] ?? -1]
    if (left === undefined || right === undefined) return
    const merge = merges.get(left)?.get(right)
    if (merge !== undefined) queue.push({ at, left, right, ...merge })
  }

  bytes.forEach((_, at) => {
    consider(at)
  })
  for (let candidate = queue.pop(); candidate !== undefined; candidate = queue.pop()) {
    const { at, id, left, right } = candidate
    const swallowed = next[at]!
    if (tokens[at] !== left || tokens[swallowed] !== right) continue
    tokens[at] = id
    tokens[swallowed] = -1
    next[at] = next[swallowed]!
    if (next[at]! < tokens.length) previous[next[at]!] = at
    consider(previous[at]!)
    consider(at)
  }
  return tokens.filter((token) => token >= 0)
}

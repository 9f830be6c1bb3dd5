/** Caches of a decoder for prompts that begin alike: what one run has computed of a prompt, the next need not. */
import type { Decoder } from "@divisi/gguf/browser"

/** The maximum number of unused caches that are retained. */
const kept = 4

const commonLength = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number => {
  const most = Math.min(left.length, right.length)
  let length = 0
  while (length < most && left[length] === right[length]) length++
  return length
}

/** The caches of a decoder. */
export const make = (decoder: Decoder.Decoder) => {
  /** The one that was used last comes last. */
  const idle: Array<Decoder.Cache> = []
  const busy = new Set<Decoder.Cache>()

  /** The cache that has most of a prompt, and how much. */
  const nearest = (prompt: ReadonlyArray<number>) => {
    let found: { readonly cache: Decoder.Cache; readonly length: number } | undefined
    for (const cache of [...idle, ...busy]) {
      const length = commonLength(cache.tokens, prompt)
      if (found === undefined || length >= found.length) found = { cache, length }
    }
    return found
  }

  return {
    /** A cache with as much of the prompt as is known, but for its last token, whose logits are needed. */
    take: (prompt: ReadonlyArray<number>): Decoder.Cache => {
      const start = prompt.slice(0, -1)
      const found = nearest(start)
      // One that has mostly other tokens is left to the prompts that it is for.
      const isOwn = found !== undefined && idle.includes(found.cache) && 2 * found.length >= found.cache.tokens.length
      const cache = isOwn ? found.cache : ((idle.length < kept ? undefined : idle[0]) ?? decoder.cache())
      if (idle.includes(cache)) idle.splice(idle.indexOf(cache), 1)
      busy.add(cache)
      if (found === undefined || found.cache === cache) cache.truncate(found?.length ?? 0)
      else cache.copy(found.cache, found.length)
      return cache
    },
    /** Gives a cache back. */
    release: (cache: Decoder.Cache): void => {
      busy.delete(cache)
      idle.push(cache)
      if (idle.length > kept) idle.shift()
    }
  }
}

/** The caches of a decoder. */
export type Caches = ReturnType<typeof make>

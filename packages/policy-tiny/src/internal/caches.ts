/** Caches of a decoder, reused for prompts with a common prefix so that it is computed only once. */
import type { Decoder } from "@divisi/gguf/browser"

/** Maximum number of idle caches that are retained. */
const kept = 4

const commonLength = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number => {
  const most = Math.min(left.length, right.length)
  let length = 0
  while (length < most && left[length] === right[length]) length++
  return length
}

/** Creates the caches for a decoder. */
export const make = (decoder: Decoder.Decoder) => {
  /** The most recently used cache is last. */
  const idle: Array<Decoder.Cache> = []
  const busy = new Set<Decoder.Cache>()

  /** Returns the cache with the longest common prefix with a prompt, and the length of that prefix. */
  const nearest = (prompt: ReadonlyArray<number>) => {
    let found: { readonly cache: Decoder.Cache; readonly length: number } | undefined
    for (const cache of [...idle, ...busy]) {
      const length = commonLength(cache.tokens, prompt)
      if (found === undefined || length >= found.length) found = { cache, length }
    }
    return found
  }

  return {
    /**
     * Takes a cache that contains as much of the prompt as possible, except its last token, whose logits are needed.
     */
    take: (prompt: ReadonlyArray<number>): Decoder.Cache => {
      const start = prompt.slice(0, -1)
      const found = nearest(start)
      // A cache that shares only a small part of its tokens is left for its own prompts.
      const isOwn = found !== undefined && idle.includes(found.cache) && 2 * found.length >= found.cache.tokens.length
      const cache = isOwn ? found.cache : ((idle.length < kept ? undefined : idle[0]) ?? decoder.cache())
      if (idle.includes(cache)) idle.splice(idle.indexOf(cache), 1)
      busy.add(cache)
      if (found === undefined || found.cache === cache) cache.truncate(found?.length ?? 0)
      else cache.copy(found.cache, found.length)
      return cache
    },
    /** Returns a cache to the pool. */
    release: (cache: Decoder.Cache): void => {
      busy.delete(cache)
      idle.push(cache)
      if (idle.length > kept) idle.shift()
    }
  }
}

/** The caches of one decoder. */
export type Caches = ReturnType<typeof make>

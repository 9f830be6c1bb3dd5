/**
 * Manages the sequences of a context: schedules runs and reuses evaluated tokens.
 *
 * Runs are served in order of arrival, each on a separate sequence, and llama.cpp evaluates all active ones in one
 * batch. A sequence retains the tokens that it has evaluated. A run gets the free sequence that shares the longest
 * prefix with its prompt, or a copy of such a prefix from another sequence. A prefix is therefore evaluated only once,
 * even if the first runs start at the same time: runs that share a prefix under evaluation wait and then copy it.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp"
import * as Threads from "./threads.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A sequence of the context. */
export interface Slot {
  readonly sequence: LlamaContextSequence
  /** The tokens that it has evaluated or is evaluating, from the start of the text. */
  tokens: ReadonlyArray<Token>
  isBusy: boolean
  /** Settles when its prompt has been evaluated; `undefined` if no evaluation is in progress. */
  evaluating: Promise<void> | undefined
  /** Copies of this sequence that other slots are making. It must not evaluate tokens until they are done. */
  readonly copies: Set<Promise<unknown>>
  /** Counter value at its last use. */
  usedAt: number
}

/** Counters for a context. */
export interface Meter {
  /** Number of evaluated prompt tokens and sampled tokens. */
  readonly evaluatedTokens: number
  readonly sampledTokens: number
  /** Number of prompt tokens that were reused instead of evaluated. */
  readonly reusedTokens: number
  readonly running: number
  readonly waiting: number
}

/** The sequences of a context, with their queue. */
export interface Sequences {
  readonly context: LlamaContext
  readonly slots: ReadonlyArray<Slot>
  readonly queueLimit: number
  readonly fit: Threads.Fit
  /** The queued runs, oldest first. */
  readonly queue: Array<(slot: Slot) => void>
  readonly counts: { evaluated: number; sampled: number; reused: number; uses: number }
}

/** The error for a run that arrives when the queue is full. */
export interface QueueFull {
  readonly _tag: "QueueFull"
  readonly waiting: number
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Creates the sequences of a context. */
export const make = (context: LlamaContext, queueLimit: number, fit: Threads.Fit = Threads.fixed): Sequences => ({
  context,
  queueLimit,
  fit,
  slots: Array.from({ length: context.totalSequences }, () => ({
    sequence: context.getSequence(),
    tokens: [],
    isBusy: false,
    evaluating: undefined,
    copies: new Set<Promise<unknown>>(),
    usedAt: 0
  })),
  queue: [],
  counts: { evaluated: 0, sampled: 0, reused: 0, uses: 0 }
})

/** Returns the counters of a context. */
export const meter = ({ counts, queue, slots }: Sequences): Meter => ({
  evaluatedTokens: counts.evaluated,
  sampledTokens: counts.sampled,
  reusedTokens: counts.reused,
  running: slots.filter((slot) => slot.isBusy).length,
  waiting: queue.length
})

// -------------------------------------------------------------------------------------------------------------------
// Scheduling
// -------------------------------------------------------------------------------------------------------------------

const sharedPrefix = (left: ReadonlyArray<Token>, right: ReadonlyArray<Token>): number => {
  const length = Math.min(left.length, right.length)
  let at = 0
  while (at < length && left[at] === right[at]) at++
  return at
}

/** Returns the free slot that shares the longest prefix with a prompt; in a tie, the least recently used one. */
const choose = ({ slots }: Sequences, prompt: ReadonlyArray<Token>): Slot | undefined => {
  let best: { readonly slot: Slot; readonly shared: number } | undefined
  for (const slot of slots) {
    if (slot.isBusy) continue
    const shared = sharedPrefix(slot.tokens, prompt)
    const isBetter =
      best === undefined || shared > best.shared || (shared === best.shared && slot.usedAt < best.slot.usedAt)
    if (isBetter) best = { slot, shared }
  }
  return best?.slot
}

const take = (self: Sequences, slot: Slot): Slot => {
  slot.isBusy = true
  self.fit.begin()
  slot.usedAt = ++self.counts.uses
  return slot
}

/** Releases a slot and passes it to the run that has been queued longest. */
const release = (self: Sequences, slot: Slot): void => {
  slot.isBusy = false
  self.fit.end()
  const next = self.queue.shift()
  if (next !== undefined) next(take(self, slot))
}

const acquire = (self: Sequences, prompt: ReadonlyArray<Token>): Effect.Effect<Slot, QueueFull> =>
  Effect.callback((resume) => {
    const slot = self.queue.length === 0 ? choose(self, prompt) : undefined
    if (slot !== undefined) return resume(Effect.succeed(take(self, slot)))
    const waiting = self.queue.length
    if (waiting >= self.queueLimit) return resume(Effect.fail({ _tag: "QueueFull", waiting }))
    const start = (slot: Slot) => resume(Effect.succeed(slot))
    self.queue.push(start)
    return Effect.sync(() => {
      const at = self.queue.indexOf(start)
      if (at >= 0) self.queue.splice(at, 1)
    })
  })

/**
 * Runs `use` on a slot as soon as one is free. If the fiber is interrupted, `signal` is aborted and the fiber continues
 * immediately. The slot is released once `use` has reacted to the signal, at the latest after the current batch.
 */
export const withSlot = <A, E>(
  self: Sequences,
  prompt: ReadonlyArray<Token>,
  use: (slot: Slot, signal: AbortSignal) => Promise<A>,
  onError: (cause: unknown) => E
): Effect.Effect<A, E | QueueFull> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(acquire(self, prompt)), (slot) => {
      const controller = new AbortController()
      const used = use(slot, controller.signal).finally(() => {
        slot.tokens = slot.sequence.disposed ? [] : slot.sequence.contextTokens
        release(self, slot)
      })
      const joined = Effect.callback<A, E>((resume) => {
        used.then(
          (value) => resume(Exit.succeed(value)),
          (cause) => resume(Exit.fail(onError(cause)))
        )
      })
      return Effect.onInterrupt(restore(joined), () => Effect.sync(() => controller.abort()))
    })
  )

// -------------------------------------------------------------------------------------------------------------------
// Prefix reuse
// -------------------------------------------------------------------------------------------------------------------

/** Minimum number of tokens that a copy must save. */
const worthCopying = 48

/**
 * Minimum length in tokens at which a prompt is evaluated separately before sampling, so that other runs can copy it.
 */
const worthSharing = 256

/**
 * Copies tokens between sequences. This API is not public in node-llama-cpp, although its own decision contexts use it.
 * If it is missing, tokens are evaluated again.
 */
interface Copying {
  readonly _copyStateFromOtherSequence?: ((other: LlamaContextSequence, upTo: number) => Promise<boolean>) | undefined
}

/**
 * Returns the other slot that shares the longest prefix with a prompt, if that exceeds `reused` by more than {@link
 * worthCopying}.
 */
const donorOf = ({ slots }: Sequences, slot: Slot, prompt: ReadonlyArray<Token>, reused: number) => {
  let best: { readonly donor: Slot; readonly shared: number } | undefined
  for (const donor of slots) {
    if (donor === slot) continue
    const shared = Math.min(sharedPrefix(donor.tokens, prompt), prompt.length - 1)
    if (shared > (best?.shared ?? reused + worthCopying)) best = { donor, shared }
  }
  return best
}

/**
 * Copies the first tokens from another slot after it has evaluated them; returns `false` if they are no longer there.
 */
const copyFrom = async (slot: Slot, donor: Slot, prefix: ReadonlyArray<Token>): Promise<boolean> => {
  const sequence: LlamaContextSequence & Copying = slot.sequence
  if (sequence._copyStateFromOtherSequence === undefined) return false
  try {
    await donor.evaluating
    const isCopied = await sequence._copyStateFromOtherSequence(donor.sequence, prefix.length)
    if (isCopied && sharedPrefix(sequence.contextTokens, prefix) === prefix.length) return true
  } catch {
    // The run that evaluated them failed and reports its own error.
  }
  await sequence.clearHistory()
  return false
}

/** Copies the tokens of the prompt that other slots have, and returns how many are then in this slot. */
const borrow = async (self: Sequences, slot: Slot, prompt: ReadonlyArray<Token>, own: number): Promise<number> => {
  const found = donorOf(self, slot, prompt, own)
  if (found === undefined) return own
  const { donor, shared } = found
  // The slot must not be copied while its content is undefined.
  slot.tokens = []
  const copying = copyFrom(slot, donor, prompt.slice(0, shared))
  donor.copies.add(copying)
  const isCopied = await copying
  donor.copies.delete(copying)
  return isCopied ? shared : Math.min(own, slot.sequence.nextTokenIndex)
}

/** Discards all tokens after the first `count`. */
const keep = async ({ sequence }: Slot, count: number): Promise<void> => {
  const end = sequence.nextTokenIndex
  if (end > count) await sequence.eraseContextTokenRanges([{ start: count, end }])
}

const copied = async ({ copies }: Slot): Promise<void> => {
  while (copies.size > 0) await Promise.allSettled(copies)
}

/** Evaluates the tokens after the first `reused`, in batches. */
const evaluate = async (
  self: Sequences,
  slot: Slot,
  tokens: ReadonlyArray<Token>,
  reused: number,
  signal: AbortSignal
): Promise<void> => {
  const { batchSize } = self.context
  await keep(slot, reused)
  for (let at = reused; at < tokens.length && !signal.aborted; at += batchSize) {
    const part = tokens.slice(at, at + batchSize)
    await slot.sequence.evaluateWithoutGeneratingNewTokens(part)
    self.counts.evaluated += part.length
  }
}

/**
 * A prompt that is evaluated except for `rest`, which contains at least its last token. The first `reused` tokens had
 * already been evaluated.
 */
export interface Prepared {
  readonly rest: ReadonlyArray<Token>
  readonly reused: number
}

/** Prepares a slot for a prompt. */
export const prepare = async (
  self: Sequences,
  slot: Slot,
  prompt: ReadonlyArray<Token>,
  signal: AbortSignal
): Promise<Prepared> => {
  if (slot.copies.size > 0) await copied(slot)
  const own = Math.min(sharedPrefix(slot.tokens, prompt), prompt.length - 1)
  const isNew = donorOf(self, slot, prompt, own) === undefined
  const reused = isNew ? own : await borrow(self, slot, prompt, own)
  self.counts.reused += reused
  if (prompt.length - reused <= worthSharing) {
    slot.tokens = prompt.slice(0, reused)
    await keep(slot, reused)
    return { rest: prompt.slice(reused), reused }
  }
  // Set before the first wait, so that runs that start at the same time can see it.
  slot.tokens = prompt.slice(0, -1)
  slot.evaluating = evaluate(self, slot, slot.tokens, reused, signal)
  try {
    await slot.evaluating
  } finally {
    slot.evaluating = undefined
  }
  await copied(slot)
  return { rest: prompt.slice(-1), reused }
}

/**
 * The sequences of a context: schedules runs and reuses evaluated tokens.
 *
 * Runs are served first come, first served, each on its own sequence; llama.cpp evaluates all running ones in one
 * batch. A sequence keeps the tokens that it has evaluated. A run gets the free sequence that shares the longest prefix
 * with its prompt, or a copy of such a prefix from any other sequence. So a prefix is evaluated once for all sequences,
 * even if the first runs start together: runs that share a prefix under evaluation wait and then copy it.
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
  /** The tokens that it has evaluated, or is evaluating, from the first on. */
  tokens: ReadonlyArray<Token>
  isBusy: boolean
  /** Settles when its prompt is evaluated; absent when nothing is. */
  evaluating: Promise<void> | undefined
  /** The copies of it that other slots are making. Until they are done, it does not evaluate tokens. */
  readonly copies: Set<Promise<unknown>>
  /** The time of its last use, as a counter. */
  usedAt: number
}

/** The counters of a context. */
export interface Meter {
  /** The number of evaluated prompt tokens and sampled tokens. */
  readonly evaluatedTokens: number
  readonly sampledTokens: number
  /** The number of prompt tokens that were reused instead of evaluated. */
  readonly reusedTokens: number
  readonly running: number
  readonly waiting: number
}

/** The sequences of a context. */
export interface Sequences {
  readonly context: LlamaContext
  readonly slots: ReadonlyArray<Slot>
  readonly queueLimit: number
  readonly fit: Threads.Fit
  /** The pending runs, oldest first. */
  readonly queue: Array<(slot: Slot) => void>
  readonly counts: { evaluated: number; sampled: number; reused: number; uses: number }
}

/** The queue is full. */
export interface QueueFull {
  readonly _tag: "QueueFull"
  readonly waiting: number
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Takes all sequences of a context. */
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

/** The counters of a context. */
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

/** The free slot that shares most with a prompt; of several, the least recently used. */
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

/** Gives a slot back, to the run that has waited longest. */
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
 * Runs `use` on a slot, once one is free. If the fiber is interrupted, `signal` is aborted and the fiber continues
 * immediately. The slot is released as soon as `use` has seen the signal, at the latest after the current batch.
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

/** The fewest tokens that a copy must save. */
const worthCopying = 48

/** From this many tokens on, a prompt is evaluated on its own before sampling, so that others may copy it. */
const worthSharing = 256

/**
 * Copying between sequences is not public in node-llama-cpp, although its own decision contexts use it. If it is
 * missing, tokens are evaluated again.
 */
interface Copying {
  readonly _copyStateFromOtherSequence?: ((other: LlamaContextSequence, upTo: number) => Promise<boolean>) | undefined
}

/** The other slot that shares most with a prompt, if that exceeds `reused` by more than {@link worthCopying}. */
const donorOf = ({ slots }: Sequences, slot: Slot, prompt: ReadonlyArray<Token>, reused: number) => {
  let best: { readonly donor: Slot; readonly shared: number } | undefined
  for (const donor of slots) {
    if (donor === slot) continue
    const shared = Math.min(sharedPrefix(donor.tokens, prompt), prompt.length - 1)
    if (shared > (best?.shared ?? reused + worthCopying)) best = { donor, shared }
  }
  return best
}

/** Copies the first tokens of another slot, once it has evaluated them; false if they are gone. */
const copyFrom = async (slot: Slot, donor: Slot, prefix: ReadonlyArray<Token>): Promise<boolean> => {
  const sequence: LlamaContextSequence & Copying = slot.sequence
  if (sequence._copyStateFromOtherSequence === undefined) return false
  try {
    await donor.evaluating
    const isCopied = await sequence._copyStateFromOtherSequence(donor.sequence, prefix.length)
    if (isCopied && sharedPrefix(sequence.contextTokens, prefix) === prefix.length) return true
  } catch {
    // The run that evaluated them has failed, and reports that itself.
  }
  await sequence.clearHistory()
  return false
}

/** Copies what others have of the prompt; returns how many of its tokens are in the slot then. */
const borrow = async (self: Sequences, slot: Slot, prompt: ReadonlyArray<Token>, own: number): Promise<number> => {
  const found = donorOf(self, slot, prompt, own)
  if (found === undefined) return own
  const { donor, shared } = found
  // The slot must not be copied until its content is known.
  slot.tokens = []
  const copying = copyFrom(slot, donor, prompt.slice(0, shared))
  donor.copies.add(copying)
  const isCopied = await copying
  donor.copies.delete(copying)
  return isCopied ? shared : Math.min(own, slot.sequence.nextTokenIndex)
}

/** Forgets all but the first tokens. */
const keep = async ({ sequence }: Slot, count: number): Promise<void> => {
  const end = sequence.nextTokenIndex
  if (end > count) await sequence.eraseContextTokenRanges([{ start: count, end }])
}

const copied = async ({ copies }: Slot): Promise<void> => {
  while (copies.size > 0) await Promise.allSettled(copies)
}

/** Evaluates the tokens after the first `reused`, batch by batch. */
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
 * A prompt that is evaluated except for `rest`, which contains at least its last token. The first `reused` tokens were
 * already evaluated.
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
  // Set before the first wait, so that runs that start at the same time see it.
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

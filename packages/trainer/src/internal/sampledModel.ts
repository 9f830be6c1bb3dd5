/**
 * A sampler as the worker that a language policy writes with: the one place where the tokens of completions are recorded.
 *
 * The first completions of a group have one prompt, so they are sampled in one request when the first of them is asked
 * for; those of recursive rounds have prompts of their own.
 */
import type { Message } from "@divisi/core/Task"
import { free, type Worker, WorkerError, type WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { EngineError, Sample, Sampler, Tokenizer } from "../Engine.ts"
import * as Seed from "./seed.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A completion with the tokens it was sampled after. */
export interface Recorded {
  /** The same array for all completions that have the same prompt. */
  readonly prompt: ReadonlyArray<number>
  readonly sample: Sample
  /** What was sampled, as text. */
  readonly text: string
}

/** The writer of one rollout. */
export interface Writer {
  readonly worker: Worker
  /** The completion of each round so far. */
  readonly recorded: ReadonlyArray<Recorded>
  /** The failure of the engine, if there was one: it is nobody's workflow. */
  readonly failure: () => EngineError | undefined
}

/** What the writers of a group share. */
export interface GroupOptions {
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly maxTokens: number
  readonly size: number
  readonly seed: number
  /** A permit for each completion that is sampled at once. */
  readonly permits: Semaphore.Semaphore
}

/** The id of the writer in keys of the response cache and in transcripts. */
export const writerId = "policy-in-training"

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const contents = (messages: ReadonlyArray<Message>) =>
  messages.map(({ content, role }) => `${role}\n${content}`).join("\n")

/** What a policy is handed of a sample. A text that reached the limit is not read; none is ever empty. */
const handed = ({ sample, text }: Recorded): string => {
  if (sample.reason === "length") return `(cut after ${sample.tokens.length} tokens)`
  return text.trim() === "" ? "(nothing)" : text
}

/** The writers of a group, by member. */
export const group = (options: GroupOptions): ((member: number) => Writer) => {
  const { maxTokens, permits, sampler, seed, size, tokenizer } = options

  const record = (prompt: ReadonlyArray<number>, sample: Sample): Recorded => {
    const written = sample.reason === "stop" ? sample.tokens.slice(0, -1) : sample.tokens
    return { prompt, sample, text: tokenizer.decode(written) }
  }

  const ask = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>, count: number, seed: number) {
    const prompt = tokenizer.render(messages)
    const samples = yield* permits.withPermits(count)(sampler.sample({ prompt, maxTokens, count, seed }))
    return samples.map((sample) => record(prompt, sample))
  })

  /** The first completions, once somebody has asked for them. */
  let first: { readonly key: string; readonly samples: Effect.Effect<ReadonlyArray<Recorded>, EngineError> } | undefined

  const completion = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>, member: number, round: number) {
    const key = contents(messages)
    if (round === 0) {
      // In one breath, so that no other member begins a request of its own meanwhile.
      first ??= { key, samples: Effect.runSync(Effect.cached(ask(messages, size, seed))) }
      if (first.key === key) return (yield* first.samples)[member]!
    }
    const [sample] = yield* ask(messages, 1, Seed.derive(seed, member, round))
    return sample!
  })

  return (member) => {
    const recorded: Array<Recorded> = []
    let failure: EngineError | undefined
    const parts = (messages: ReadonlyArray<Message>): Effect.Effect<ReadonlyArray<WorkerPart>, WorkerError> =>
      Effect.matchEffect(
        Effect.suspend(() => completion(messages, member, recorded.length)),
        {
          onSuccess: (one) => {
            recorded.push(one)
            const usage = { inputTokens: one.prompt.length, outputTokens: one.sample.tokens.length }
            const finish: WorkerPart = { type: "finish", reason: one.sample.reason, usage }
            return Effect.succeed<ReadonlyArray<WorkerPart>>([{ type: "text", text: handed(one) }, finish])
          },
          onFailure: (error) => {
            failure = error
            // Not to be tried again: that is the engine's to decide.
            return Effect.fail(
              new WorkerError({ worker: writerId, reason: { _tag: "InvalidRequest", detail: error.message } })
            )
          }
        }
      )
    const worker: Worker = {
      id: writerId,
      pricing: free,
      countInputTokens: () => 0,
      generate: ({ messages }) => Stream.unwrap(Effect.map(parts(messages), Stream.fromIterable))
    }
    return { worker, recorded, failure: () => failure }
  }
}

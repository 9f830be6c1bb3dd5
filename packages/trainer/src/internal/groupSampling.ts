/**
 * Samples the completions for a group. Each rollout's policy receives a model that reads from here; this is the only
 * module that records sampled tokens.
 *
 * The first completions of a group share one prompt. They are sampled in a single request when the first one is needed.
 * Completions of recursive rounds each have a different prompt.
 */

import { Seed } from "@divisi/core"
import { type Message, plain } from "@divisi/core/Message"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { EngineError, Sample, Sampler, Tokenizer } from "../Engine.ts"
import * as SamplerWorker from "../SamplerWorker.ts"

/** Sampled completion with its prompt. */
export interface SampledCompletion {
  /** Prompt tokens. Completions with the same prompt share one array. */
  readonly prompt: ReadonlyArray<number>
  readonly sample: Sample
}

/** Model for the policy of one rollout. */
export interface Writer {
  readonly worker: Worker
  /**
   * Model for nested runs, if the Conductor is a worker in its own pool. Its completions do not count as rounds of this
   * rollout.
   */
  readonly nested: Worker
  /** Completion of each completed round. */
  readonly sampled: ReadonlyArray<SampledCompletion>
  /** Records the next completion, either sampled now or read from the stored rollout. */
  readonly take: (messages: ReadonlyArray<Message>, sample: Sample) => void
}

/** Worker id of the models. */
export const id = "policy-in-training"

/** Resources shared by the rollouts of a group. */
export interface GroupOptions {
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly maxTokens: number
  readonly size: number
  readonly seed: number
  /** Limits the number of completions sampled concurrently. */
  readonly permits: Semaphore.Semaphore
  /**
   * Called when the engine fails. The failure provides no evidence about the policy, so it stops the group: none of its
   * pending calls completes.
   */
  readonly onFailure: (error: EngineError) => Effect.Effect<unknown>
}

const contents = (messages: ReadonlyArray<Message>) =>
  messages
    .map(plain)
    .map(({ content, role }) => `${role}\n${content}`)
    .join("\n")

/** Returns a tokenizer that renders equal messages only once, to the same array. */
const renderOnce = (tokenizer: Tokenizer): Tokenizer => {
  const prompts = new Map<string, ReadonlyArray<number>>()
  const render = (messages: ReadonlyArray<Message>) => {
    const key = contents(messages)
    const prompt = prompts.get(key) ?? tokenizer.render(messages)
    prompts.set(key, prompt)
    return prompt
  }
  return { ...tokenizer, render }
}

/**
 * Returns the text of a sample as the policy receives it. Samples that reached the token limit become a text that
 * cannot be parsed, and no sample becomes an empty text.
 */
const textOf = (sample: Sample, text: string): string => {
  if (sample.reason === "length") return `(cut after ${sample.tokens.length} tokens)`
  return text.trim() === "" ? "(nothing)" : text
}

/** Returns a function that creates the model for each group member. */
export const make = (options: GroupOptions): ((member: number) => Writer) => {
  const { maxTokens, permits, sampler, seed, size } = options
  const tokenizer = renderOnce(options.tokenizer)

  const sample = (prompt: ReadonlyArray<number>, count: number, seed: number) =>
    permits.withPermits(count)(sampler.sample({ prompt, maxTokens, count, seed }))

  /** First completions, once they have been requested. */
  let first:
    | {
        readonly prompt: ReadonlyArray<number>
        readonly samples: Effect.Effect<ReadonlyArray<Sample>, EngineError>
      }
    | undefined

  const sampleOne = Effect.fnUntraced(function* (prompt: ReadonlyArray<number>, member: number, round: number) {
    if (round === 0) {
      // This must be synchronous, so that no other member sends its own request in the meantime.
      first ??= { prompt, samples: Effect.runSync(Effect.cached(sample(prompt, size, seed))) }
      if (first.prompt === prompt) return (yield* first.samples)[member]!
    }
    return (yield* sample(prompt, 1, Seed.spread(seed, member, round)))[0]!
  })

  return (member) => {
    const sampled: Array<SampledCompletion> = []
    const worker = (sample: Sampler["sample"]) =>
      SamplerWorker.make({
        sampler: {
          version: sampler.version,
          // The engine has already been retried, so the run must not retry it again.
          sample: (request) =>
            Effect.catch(sample(request), (error) => Effect.andThen(options.onFailure(error), Effect.never))
        },
        engine: { tokenizer },
        id,
        maxTokens,
        textOf
      })
    const next: Sampler["sample"] = ({ prompt }) =>
      Effect.map(
        Effect.suspend(() => sampleOne(prompt, member, sampled.length)),
        Array.of<Sample>
      )
    const nested: Sampler["sample"] = ({ prompt, seed }) => sample(prompt, 1, Seed.spread(seed, member, "nested"))
    return {
      worker: worker(next),
      nested: worker(nested),
      sampled,
      take: (messages, sample) => void sampled.push({ prompt: tokenizer.render(messages), sample })
    }
  }
}

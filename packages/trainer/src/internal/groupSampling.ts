/**
 * The completions of a group, as the models that its rollouts' policies write with: the one place where sampled tokens
 * are recorded.
 *
 * The first completions of a group have one prompt. They are sampled in one request, when the first of them is asked
 * for. Those of recursive rounds have prompts of their own.
 */

import { Seed } from "@divisi/core"
import { type Message, plain } from "@divisi/core/Message"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { EngineError, Sample, Sampler, Tokenizer } from "../Engine.ts"
import * as SamplerWorker from "../SamplerWorker.ts"

/** A completion with the prompt that it was sampled after. */
export interface SampledCompletion {
  /** The same array for all completions that have the same prompt. */
  readonly prompt: ReadonlyArray<number>
  readonly sample: Sample
}

/** The model of one rollout's policy. */
export interface Writer {
  readonly worker: Worker
  /** The same if the Conductor is a worker of its own pool: its completions do not count as rounds of this rollout. */
  readonly nested: Worker
  /** The completion of each round so far. */
  readonly sampled: ReadonlyArray<SampledCompletion>
  /** Takes the next of them, sampled now or read from the stored rollout. */
  readonly take: (messages: ReadonlyArray<Message>, sample: Sample) => void
}

/** The id of the models. */
export const id = "policy-in-training"

/** The resources shared by the rollouts of a group. */
export interface GroupOptions {
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly maxTokens: number
  readonly size: number
  readonly seed: number
  /** A permit for each completion that is sampled at once. */
  readonly permits: Semaphore.Semaphore
  /**
   * Called with the engine's failure, which is not a verdict on the policy. It stops the group: none of its calls is
   * answered.
   */
  readonly onFailure: (error: EngineError) => Effect.Effect<unknown>
}

const contents = (messages: ReadonlyArray<Message>) =>
  messages
    .map(plain)
    .map(({ content, role }) => `${role}\n${content}`)
    .join("\n")

/** Renders equal messages once, to one array. */
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

/** The text that a policy reads of a sample. One that reached the limit of tokens is not read, and none is empty. */
const textOf = (sample: Sample, text: string): string => {
  if (sample.reason === "length") return `(cut after ${sample.tokens.length} tokens)`
  return text.trim() === "" ? "(nothing)" : text
}

/** The models of a group's rollouts, by member. */
export const make = (options: GroupOptions): ((member: number) => Writer) => {
  const { maxTokens, permits, sampler, seed, size } = options
  const tokenizer = renderOnce(options.tokenizer)

  const sample = (prompt: ReadonlyArray<number>, count: number, seed: number) =>
    permits.withPermits(count)(sampler.sample({ prompt, maxTokens, count, seed }))

  /** The first completions, once they were requested. */
  let first:
    | {
        readonly prompt: ReadonlyArray<number>
        readonly samples: Effect.Effect<ReadonlyArray<Sample>, EngineError>
      }
    | undefined

  const sampleOne = Effect.fnUntraced(function* (prompt: ReadonlyArray<number>, member: number, round: number) {
    if (round === 0) {
      // Synchronous, so that no other member begins a request of its own meanwhile.
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
          // The engine was asked as often as that can help: a run does not ask it again.
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

/**
 * Rehearsal: measures the token usage of a few rollouts before training. A generator of random plans replaces the
 * model, and token-counting stubs replace workers that would cost money.
 */

import { LanguagePolicy, Seed, type Workflow, WorkflowText } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Message from "@divisi/core/Message"
import * as Usage from "@divisi/core/Usage"
import type * as Worker from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Curriculum from "../Curriculum.ts"
import type { Tokenizer } from "../Engine.ts"
import type { Parts } from "../Trainer.ts"
import type { GrpoConfig } from "../TrainingConfig.ts"
import * as Samples from "./Samples.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for a rehearsal. */
export interface RehearsalOptions {
  readonly parts: Pick<Parts, "pool" | "tasks" | "policy">
  readonly phase: GrpoConfig
  /** Counts the tokens of prompts and completions. Default: an estimate of four characters per token. */
  readonly tokenizer?: Pick<Tokenizer, "render" | "encode"> | undefined
  /** Whether to call the actual workers. Use this only if they are free. Default: `false`. */
  readonly asksWorkers?: boolean | undefined
  /** Median number of tokens per answer, including reasoning, if workers are not called. Default: 400. */
  readonly answerTokens?: number | undefined
  /** Number of rollouts. Default: 100. */
  readonly count?: number | undefined
  readonly seed?: number | undefined
}

/** Default for `answerTokens`. */
export const defaultAnswerTokens = 400

/** Standard deviation of the logarithm of the answer length. */
const answerSpread = 0.6

/** Assumed number of tokens that the model writes before its lists. */
const thoughtTokens = 40

/** Samples from the standard normal distribution (Box and Muller 1958). */
export const normal = (draw: Seed.Draw): number => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())

// -------------------------------------------------------------------------------------------------------------------
// Stand-ins
// -------------------------------------------------------------------------------------------------------------------

const textTokens = (text: string): number => Math.ceil(text.length / 4)

const reply = (text: string, usage: Usage.Usage): Stream.Stream<Worker.WorkerPart> =>
  Stream.make<[Worker.WorkerPart, Worker.WorkerPart]>({ type: "text", text }, { type: "finish", reason: "stop", usage })

/** An empty subtask stands for the question itself. */
const subtasks = [
  "",
  "Work out the first part.",
  "Work out what is asked, check it once more, and say what it comes to."
]

const random = (size: number, { run: { maxSteps } }: GrpoConfig["rollouts"], draw: Seed.Draw): Workflow.Workflow => ({
  steps: Array.from({ length: 1 + Math.floor(draw() * maxSteps) }, (_, step) => ({
    worker: Math.floor(draw() * size),
    subtask: subtasks[Math.floor(draw() * subtasks.length)]!,
    access: step > 0 && draw() < 0.5 ? ("all" as const) : []
  }))
})

/** Creates a model that writes random plans and records the prompts it receives. */
const writer = (options: RehearsalOptions, size: () => number, draw: Seed.Draw) => {
  const prompts: Array<number> = []
  let completionTokens = 0
  const { tokenizer } = options
  const generate = ({ messages }: { readonly messages: ReadonlyArray<Message.Message> }) => {
    const text = WorkflowText.write(random(size(), options.phase.rollouts, draw))
    prompts.push(
      tokenizer?.render(messages).length ??
        messages.reduce((sum, message) => sum + textTokens(Message.text(message)), 0)
    )
    const written = thoughtTokens + (tokenizer?.encode(text).length ?? textTokens(text))
    completionTokens = Math.min(options.phase.rollouts.maxTokens, written)
    return reply(text, Usage.noUsage)
  }
  const worker: Worker.Worker = { id: "rehearsal", pricing: Usage.free, countInputTokens: () => 0, generate }
  return { worker, prompts, completionTokens: () => completionTokens }
}

/** Creates a stub that returns an answer of likely length without calling the worker. */
const standIn = (worker: Worker.Worker, median: number, draw: Seed.Draw): Worker.Worker => ({
  id: worker.id,
  description: worker.description,
  pricing: worker.pricing,
  generate: (request) => {
    const { maxOutputTokens = Number.POSITIVE_INFINITY, messages } = request
    const wanted = Math.round(median * Math.exp(answerSpread * normal(draw)))
    const outputTokens = Math.max(1, Math.min(maxOutputTokens, wanted))
    const inputTokens = worker.countInputTokens?.(request) ?? Usage.estimateUsage(messages, "").inputTokens
    return reply("word".repeat(outputTokens), { inputTokens, outputTokens })
  }
})

const castOf = ({ answerTokens = defaultAnswerTokens, asksWorkers, parts }: RehearsalOptions, draw: Seed.Draw) =>
  asksWorkers === true
    ? parts.pool
    : WorkerPool.makeUnsafe(parts.pool.workers.map((worker) => standIn(worker, answerTokens, draw)))

// -------------------------------------------------------------------------------------------------------------------
// Rehearsing
// -------------------------------------------------------------------------------------------------------------------

/**
 * Runs a few rollouts of a phase without training, and measures their token usage.
 *
 * **Details**
 *
 * Prompts are the same as in training. Plans are random and have the maximum number of steps. Unless `asksWorkers` is
 * set, no requests are sent, and answer lengths are assumed.
 */
export const rehearse = Effect.fnUntraced(function* (
  options: RehearsalOptions
): Effect.fn.Return<Samples.Samples, Curriculum.CurriculumError> {
  const { asksWorkers = false, count = 100, parts, phase, seed = 0 } = options
  const draw = Seed.draw(Seed.spread(seed, "rehearsal"))
  const cast = castOf(options, draw)
  let size = WorkerPool.size(cast)
  const model = writer(options, () => size, draw)
  const policy =
    parts.policy?.(model.worker, phase) ??
    LanguagePolicy.make({
      model: model.worker,
      prompt: phase.rollouts.prompt,
      mode: phase.rollouts.reading,
      resamples: 0
    })
  const recorder = Samples.recorder()
  const conductor = Conductor.make({
    policy,
    pool: cast,
    reassign: "never",
    maxSteps: phase.rollouts.run.maxSteps,
    worker: phase.rollouts.run.worker,
    retry: { ...phase.rollouts.run.retry, baseDelayMillis: 0, jitter: false }
  })
  const source = parts.tasks?.[phase.tasks]
  const rollouts: Array<Samples.RolloutSample> = []
  for (let index = 0; source !== undefined && index < count; index++) {
    const task = yield* source.task(seed, index)
    const pool = yield* Curriculum.drawPool(cast, phase.pool, Seed.spread(seed, "rehearsal", index))
    size = WorkerPool.size(pool)
    yield* conductor.run(task, { pool, seed: index, listener: recorder.listener })
    rollouts.push({ completionTokens: model.completionTokens(), calls: recorder.take() })
  }
  return { tokens: asksWorkers ? "counted" : "assumed", promptTokens: model.prompts, rollouts }
})

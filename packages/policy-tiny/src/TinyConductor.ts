/**
 * The tiny Conductor: a model with under a million weights that plans for the gym's workers.
 *
 * Its GGUF file is included in this package and runs in plain TypeScript. It was trained from scratch in the gym and
 * supports only the gym's workers and language. For anything else, a fallback policy plans and the proposal contains a
 * note.
 */

import fs from "node:fs"
import { fileURLToPath } from "node:url"
import { LanguagePolicy, Options as Tables, type Workflow } from "@divisi/core"
import { type Message, plain } from "@divisi/core/Message"
import * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { type GgufError, Model } from "@divisi/gguf"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import { knownWorkers } from "./knownWorkers.ts"
import type { ModelCard } from "./ModelCard.ts"
import * as ModelWorker from "./ModelWorker.ts"
import { narrowed, widened } from "./partOfPool.ts"
import * as TinyPrompt from "./TinyPrompt.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for planning. */
export interface PlanOptions {
  /** Name of the policy. Default: `"divisi-tiny"`. */
  readonly name?: string | undefined
  /** Sampling temperature. Default: 0, which gives the most likely plan. */
  readonly temperature?: number | undefined
  /** Maximum number of tokens for reasoning and plan together. Default: 128, which suffices for five steps. */
  readonly maxOutputTokens?: number | undefined
  /** The policy used for questions and pools that the model does not support. Default: the lexical policy. */
  readonly fallback?: Policy.Policy | undefined
}

/** Options for loading the model and planning. */
export interface Options extends PlanOptions {
  /** Path of the model file, for example one from `divisi train --recipe gym`. Default: {@link file}. */
  readonly file?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Packaged files
// -------------------------------------------------------------------------------------------------------------------

const inPackage = (name: string): string => fileURLToPath(new URL(`../model/${name}`, import.meta.url))

/** Path of the included GGUF file. */
export const file: string = inPackage("divisi-tiny.gguf")

/** Returns the model card: training data, recipe, results, and limits of use. */
export const card = (): ModelCard => JSON.parse(fs.readFileSync(inPackage("card.json"), "utf8"))

// -------------------------------------------------------------------------------------------------------------------
// Known workers and prompts
// -------------------------------------------------------------------------------------------------------------------

const known: ReadonlySet<string> = new Set(knownWorkers)

/**
 * Whether the model was trained with a worker that has this description. The model reads only the descriptions of
 * workers.
 */
export const isKnown = ({ description = "" }: Pick<Worker, "description">): boolean => known.has(description)

/**
 * Returns the reason why the model cannot plan for a request, if there is one. `ordinals` are those of the supported
 * workers.
 */
const outside = (context: Policy.Context, ordinals: ReadonlyArray<number>): string | undefined => {
  const { pool, previous } = context
  if (ordinals.length === 0) return "was trained only with the gym's workers, and the pool has none of them"
  if (ordinals.length > known.size) return `supports pools of at most ${known.size} workers`
  if (previous?.feedback !== undefined) return "does not support feedback from critics"
  const stranger = strangerIn(previous?.workflow, pool)
  return stranger && `does not support the last plan, which uses ${stranger.id}`
}

/** Returns the first worker of a workflow that the model does not support. */
const strangerIn = (workflow: Workflow.Workflow | undefined, pool: WorkerPool): Worker | undefined =>
  workflow?.steps.map(({ worker }) => pool.workers[worker]).find((worker) => worker !== undefined && !isKnown(worker))

/** Returns the ordinals of the workers that the model supports. */
const knownIn = (pool: WorkerPool): ReadonlyArray<number> =>
  pool.workers.flatMap((worker, ordinal) => (isKnown(worker) ? [ordinal] : []))

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Formats a message as a line of the prompt. Names of control tokens in it remain plain text. */
const line = (message: Message): string => {
  const { content, role } = plain(message)
  const text = content.replaceAll("<|", "< |")
  return role === "assistant" ? `<|answer|>${text}<|endoftext|>` : `${text}\n`
}

/** Converts messages to the model's prompt. */
const template = (messages: ReadonlyArray<Message>): string => `${messages.map(line).join("")}<|answer|>`

/**
 * The llama.cpp settings that give the same results as plain TypeScript: `llamacpp(TinyConductor.file,
 * TinyConductor.llamaCpp)` from `@divisi/policy-llamacpp` is a worker for {@link make}. For such a small model, a GPU
 * or a second thread costs more time than it saves. The template repeats the one in the file, because detecting it
 * takes longer than writing a plan.
 */
export const llamaCpp = { gpu: "none", threads: 1, contextTokens: 1024, keyValueType: "F32", template } as const

/** Loads a model trained with this recipe as a worker for {@link make}. Default: {@link file}. */
export const worker = (path: string = file): Effect.Effect<Worker, GgufError.GgufError> =>
  Effect.map(Model.read(path), (model) => ModelWorker.make(model, { template }))

/**
 * Creates a policy from a loaded model of this recipe, given as a worker.
 *
 * **Details**
 *
 * The prompt contains only supported workers, and plans use only these. If a pool also has other workers, the fallback
 * plans first, and its plan is used if it includes one of them. The fallback also plans for pools without supported
 * workers, after a critic's objection, and for prompts that exceed the context. The proposal's notes give the reason.
 * Plans never use the Conductor itself as a worker, because it cannot answer questions.
 */
export const make = (model: Worker, options: PlanOptions = {}): Policy.Policy => {
  const { fallback = LexicalPolicy.make(), maxOutputTokens = 128, name = "divisi-tiny", temperature = 0 } = options
  const policy = LanguagePolicy.make({
    model,
    name,
    prompt: TinyPrompt.options,
    maxOutputTokens,
    temperature,
    // It was not trained on prompts with corrections.
    resamples: 0
  })
  // It was trained to write reasoning before its lists, so the reasoning is not reported in a note.
  const plan = (context: Policy.Context) => {
    const ordinals = knownIn(context.pool)
    return Effect.map(policy.propose(narrowed({ ...context, self: false }, ordinals)), ({ workflow }) => ({
      workflow: widened(workflow, ordinals)
    }))
  }
  const planner = Policy.withFallback({ ...policy, propose: plan }, fallback, {
    declines: (context) => {
      const why = outside(context, knownIn(context.pool))
      return why && `${name} ${why}.`
    }
  })
  const propose = Effect.fnUntraced(function* (context: Policy.Context) {
    const { pool } = context
    const ordinals = knownIn(pool)
    const isMixed = ordinals.length < pool.workers.length && outside(context, ordinals) === undefined
    if (!isMixed) return yield* planner.propose(context)
    const proposal = yield* fallback.propose(context)
    const stranger = strangerIn(proposal.workflow, pool)
    if (stranger === undefined) return yield* planner.propose(context)
    const why = `The plan of the ${fallback.name} policy uses ${stranger.id}, which ${name} was not trained with.`
    return { policy: fallback.name, author: fallback, ...proposal, notes: [why, ...(proposal.notes ?? [])] }
  })
  return { ...planner, propose }
}

/**
 * Validation table for {@link Options}, used by `Options.check`.
 *
 * @internal
 */
export const optionsTable = {
  file: Tables.name,
  name: Tables.name,
  temperature: Tables.temperature,
  maxOutputTokens: Tables.whole(1),
  fallback: Tables.madeBy("a policy", "propose")
} satisfies Tables.ShapeOf<Options>

/**
 * Loads the included model and creates a policy from it.
 *
 * **Details**
 *
 * Loading takes a few hundredths of a second. A plan is the most likely one under a grammar, so it is always valid and
 * is the same for the same question and pool. Concurrent requests are planned one at a time.
 *
 * **Gotchas**
 *
 * Supports only the gym. For real models and questions, prompt or train a larger model; see `LanguagePolicy`.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as GymPool from "@divisi/gym/GymPool"
 * import { TinyConductor } from "@divisi/policy-tiny"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const policy = yield* TinyConductor.policy()
 *   const pool = GymPool.make({ latencyMillis: 0 })
 *   return yield* Conductor.make({ policy, pool }).run("How many minutes are there in 3 days?")
 * })
 * const { answer } = await Effect.runPromise(program)
 * answer // => "4320"
 * ```
 */
export const policy = (options: Options = {}): Effect.Effect<Policy.Policy, GgufError.GgufError> => {
  Tables.check("TinyConductor.policy", options, optionsTable)
  const { file, ...rest } = options
  return Effect.map(worker(file), (model) => make(model, rest))
}

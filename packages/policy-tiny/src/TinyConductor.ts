/**
 * The tiny Conductor: a model with less than a million weights that plans for the gym's workers.
 *
 * Its GGUF file is part of this package and runs in plain TypeScript. It was trained from scratch in the gym, and knows
 * only the gym's workers and language. A fallback plans for anything else, with a note in the proposal.
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
  /** The name of the policy. Default: `"divisi-tiny"`. */
  readonly name?: string | undefined
  /** The temperature. Default: 0, which gives the most likely plan. */
  readonly temperature?: number | undefined
  /** The maximum number of tokens of reasoning and plan together. Default: 128, which is sufficient for five steps. */
  readonly maxOutputTokens?: number | undefined
  /** The policy for questions and pools that the model does not know. Default: the lexical policy. */
  readonly fallback?: Policy.Policy | undefined
}

/** Options for planning and loading. */
export interface Options extends PlanOptions {
  /** The model's file, for example from `divisi train --recipe gym`. Default: {@link file}. */
  readonly file?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Packaged files
// -------------------------------------------------------------------------------------------------------------------

const inPackage = (name: string): string => fileURLToPath(new URL(`../model/${name}`, import.meta.url))

/** The path of the GGUF file. */
export const file: string = inPackage("divisi-tiny.gguf")

/** Returns the model card: data, recipe, results, and limits of use. */
export const card = (): ModelCard => JSON.parse(fs.readFileSync(inPackage("card.json"), "utf8"))

// -------------------------------------------------------------------------------------------------------------------
// Known workers and prompts
// -------------------------------------------------------------------------------------------------------------------

const known: ReadonlySet<string> = new Set(knownWorkers)

/** Whether it was trained with a worker that has this description. It sees only descriptions of workers. */
export const knows = ({ description = "" }: Pick<Worker, "description">): boolean => known.has(description)

/** Why the model cannot plan this, if it cannot: `ordinals` are those of the workers that it knows. */
const outside = (context: Policy.Context, ordinals: ReadonlyArray<number>): string | undefined => {
  const { pool, previous } = context
  if (ordinals.length === 0) return "knows the workers of the gym alone, and none of these is one of them"
  if (ordinals.length > known.size) return `knows pools of at most ${known.size} workers`
  if (previous?.feedback !== undefined) return "cannot read what a critic says of an answer"
  const stranger = strangerIn(previous?.workflow, pool)
  return stranger && `cannot read the last plan, which asks ${stranger.id}`
}

/** The first worker that a workflow asks and the model does not know. */
const strangerIn = (workflow: Workflow.Workflow | undefined, pool: WorkerPool): Worker | undefined =>
  workflow?.steps.map(({ worker }) => pool.workers[worker]).find((worker) => worker !== undefined && !knows(worker))

/** The ordinals of the workers that the model knows. */
const knownIn = (pool: WorkerPool): ReadonlyArray<number> =>
  pool.workers.flatMap((worker, ordinal) => (knows(worker) ? [ordinal] : []))

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A message as a line of the prompt; names of control tokens in it stay plain text. */
const line = (message: Message): string => {
  const { content, role } = plain(message)
  const text = content.replaceAll("<|", "< |")
  return role === "assistant" ? `<|answer|>${text}<|endoftext|>` : `${text}\n`
}

/** How messages become its prompt. */
const template = (messages: ReadonlyArray<Message>): string => `${messages.map(line).join("")}<|answer|>`

/**
 * The llama.cpp settings that give the same results as plain TypeScript:
 * `llamacpp(TinyConductor.file, TinyConductor.llamaCpp)` of `@divisi/policy-llamacpp` is a worker for {@link make}. For
 * a model this small, a GPU or a second thread costs more than it saves. The template repeats the one in the file,
 * because detecting it takes longer than writing a plan.
 */
export const llamaCpp = { gpu: "none", threads: 1, contextTokens: 1024, keyValueType: "F32", template } as const

/** Loads a model of this recipe as a worker, for {@link make}. Default: {@link file}. */
export const worker = (path: string = file): Effect.Effect<Worker, GgufError.GgufError> =>
  Effect.map(Model.read(path), (model) => ModelWorker.make(model, { template }))

/**
 * Makes a policy from a loaded model of this recipe, given as a worker.
 *
 * **Details**
 *
 * The model sees only the workers that it knows, and plans for them. If a pool also has other workers, the fallback
 * plans first, and its plan is used if it includes one of these. The fallback also plans for pools without any known
 * worker, after a critic's objection, and for prompts longer than the context. The notes of the proposal give the
 * reason. Plans never use the Conductor itself as a worker, because it cannot answer.
 */
export const make = (model: Worker, options: PlanOptions = {}): Policy.Policy => {
  const { fallback = LexicalPolicy.make(), maxOutputTokens = 128, name = "divisi-tiny", temperature = 0 } = options
  const policy = LanguagePolicy.make({
    model,
    name,
    prompt: TinyPrompt.options,
    maxOutputTokens,
    temperature,
    // It was never trained on prompts with corrections.
    resamples: 0
  })
  // It was trained to write reasoning before its lists, so the reasoning needs no note.
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
    const why = `The plan of the ${fallback.name} policy asks ${stranger.id}, whom ${name} does not know.`
    return { policy: fallback.name, author: fallback, ...proposal, notes: [why, ...(proposal.notes ?? [])] }
  })
  return { ...planner, propose }
}

/** The table of {@link Options}, for `Options.check`. */
export const optionsTable = {
  file: Tables.name,
  name: Tables.name,
  temperature: Tables.number(0),
  maxOutputTokens: Tables.whole(1),
  fallback: Tables.madeBy("a policy", "propose")
} satisfies Tables.ShapeOf<Options>

/**
 * Loads the built-in model and makes a policy from it.
 *
 * **Details**
 *
 * Loading takes a few hundredths of a second. A plan is the model's most likely one under a grammar, so it is always
 * valid, and the same for the same question and pool. Concurrently requested plans are written one at a time.
 *
 * **Gotchas**
 *
 * It knows only the gym. For real models and questions, prompt or train a larger model: see `LanguagePolicy`.
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

/**
 * The tiny Conductor: a model of less than a million weights that plans for the workers of the gym.
 *
 * Its GGUF is part of this package, and runs in plain TypeScript. It was trained from scratch in the gym, and knows no
 * other workers and no other English. A fallback plans for anything else, with a note in the proposal.
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

/** How it plans. */
export interface PlanOptions {
  /** `"divisi-tiny"` by default. */
  readonly name?: string | undefined
  /** 0 by default: its most likely plan. */
  readonly temperature?: number | undefined
  /** Tokens of reasoning and plan together; 128 by default, more than a plan of five steps needs. */
  readonly maxOutputTokens?: number | undefined
  /** Plans for questions and pools that the model does not know; the lexical policy by default. */
  readonly fallback?: Policy.Policy | undefined
}

/** How it plans and runs. */
export interface Options extends PlanOptions {
  /** The model: {@link file} by default, or another that `divisi train --recipe gym` has made. */
  readonly file?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Packaged files
// -------------------------------------------------------------------------------------------------------------------

const inPackage = (name: string): string => fileURLToPath(new URL(`../model/${name}`, import.meta.url))

/** The path of the GGUF. */
export const file: string = inPackage("divisi-tiny.gguf")

/** The model's card: its data, recipe, results, and what it must not be used for. */
export const card = (): ModelCard => JSON.parse(fs.readFileSync(inPackage("card.json"), "utf8"))

// -------------------------------------------------------------------------------------------------------------------
// Known workers and prompts
// -------------------------------------------------------------------------------------------------------------------

const known: ReadonlySet<string> = new Set(knownWorkers)

/** Whether it was trained with a worker of this description; it sees nothing else of workers. */
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
 * How llama.cpp runs it as plain TypeScript does: `llamacpp(TinyConductor.file, TinyConductor.llamaCpp)` of
 * `@divisi/policy-llamacpp` is a worker for {@link make}. For a model this small, a GPU or a second thread costs more
 * than it saves. The template repeats the one in the file, because matching that against the known ones takes longer
 * than a plan.
 */
export const llamaCpp = { gpu: "none", threads: 1, contextTokens: 1024, keyValueType: "F32", template } as const

/** A model of this recipe as a worker, for {@link make}: {@link file} by default. */
export const worker = (path: string = file): Effect.Effect<Worker, GgufError.GgufError> =>
  Effect.map(Model.read(path), (model) => ModelWorker.make(model, { template }))

/**
 * Makes a policy from a loaded model of this recipe, given as a worker.
 *
 * **Details**
 *
 * The model is shown the workers that it knows, and plans for them. If a pool has other workers as well, the fallback
 * plans first, and its plan is used if it includes one of those. The fallback also plans for pools without any known
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
 * Reads the model that comes with this package and makes a policy of it.
 *
 * **Details**
 *
 * Reading takes some hundredths of a second. A plan is the model's most likely one under a grammar, so it is always
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

/**
 * The tiny Conductor: a model of less than a million weights that plans for the workers of the gym.
 *
 * Its GGUF comes with this package, and llama.cpp runs it on one thread of the processor. It was trained from nothing, in
 * the gym and for the gym: it has seen no other workers, and no other English. What it does not know it leaves to a
 * fallback, and says so in the notes of the proposal.
 */
import fs from "node:fs"
import { fileURLToPath } from "node:url"
import * as LanguagePolicy from "@divisi/core/LanguagePolicy"
import * as Policy from "@divisi/core/Policy"
import type { Message } from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import type { LlamaCppError } from "@divisi/policy-llamacpp"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { knownWorkers } from "./knownWorkers.ts"
import type { ModelCard } from "./ModelCard.ts"
import * as TinyPrompt from "./TinyPrompt.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How it plans. */
export interface PlanOptions {
  /** `"divisi-tiny"` by default. */
  readonly name?: string | undefined
  /** 0 by default: the plan that it holds for the best. */
  readonly temperature?: number | undefined
  /** Of thoughts and plan together; 128 by default, which is more than a plan of five steps takes. */
  readonly maxOutputTokens?: number | undefined
  /** What plans where this one does not know its way; the lexical policy by default. */
  readonly fallback?: Policy.Policy | undefined
}

/** How it plans and runs. */
export interface Options extends PlanOptions {
  /** Another model that `divisi train --recipe gym` has made; {@link file} by default. */
  readonly file?: string | undefined
  /** Plans at once; 4 by default, and more wait for their turn. */
  readonly sequences?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// What comes with the package
// -------------------------------------------------------------------------------------------------------------------

const inPackage = (name: string): string => fileURLToPath(new URL(`../model/${name}`, import.meta.url))

/** Where the GGUF is. */
export const file: string = inPackage("divisi-tiny.gguf")

/** What the model is: its data, its recipe, what it reaches, and what it must not be used for. */
export const card = (): ModelCard => JSON.parse(fs.readFileSync(inPackage("card.json"), "utf8"))

// -------------------------------------------------------------------------------------------------------------------
// What it knows
// -------------------------------------------------------------------------------------------------------------------

const known: ReadonlySet<string> = new Set(knownWorkers)

/** Whether it has been trained with a worker of this description. It sees nothing else of workers. */
export const knows = ({ description = "" }: Pick<Worker, "description">): boolean => known.has(description)

/** Why a question is not for it, if it is not. */
const outside = ({ pool, previous }: Policy.Context): string | undefined => {
  const stranger = pool.workers.find((worker) => !knows(worker))
  if (stranger !== undefined) {
    const what = stranger.description === undefined ? "has no description" : "is none of them"
    return `knows the workers of the gym alone, and ${stranger.id} ${what}`
  }
  if (pool.workers.length > known.size) return `knows pools of at most ${known.size} workers`
  return previous?.feedback === undefined ? undefined : "cannot read what a critic says of an answer"
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Names of control tokens in a text are no control tokens. */
const line = ({ content, role }: Message): string => {
  const text = content.replaceAll("<|", "< |")
  return role === "assistant" ? `<|answer|>${text}<|endoftext|>` : `${text}\n`
}

/**
 * How the model is run. Small as it is, a GPU or a second thread would cost more than they save. The template is the one
 * in its file, written out: to find out that it is none of those that are known takes longer than a plan.
 */
export const settings = {
  gpu: "none",
  threads: 1,
  contextTokens: 1024,
  keyValueType: "F32",
  template: (messages: ReadonlyArray<Message>): string => `${messages.map(line).join("")}<|answer|>`
} as const satisfies Partial<LlamaCppModel.Options & LlamaCppModel.WorkerOptions>

/**
 * Makes the policy of a model that is there: one that this recipe made, as a worker.
 *
 * **Details**
 *
 * Pools with a worker that was not trained with, a critic's objection, and prompts that are longer than the context are
 * the fallback's; the notes of the proposal say why. Plans never seat the Conductor itself, as it cannot answer.
 */
export const make = (model: Worker, options: PlanOptions = {}): Policy.Policy => {
  const { fallback = LexicalPolicy.make(), maxOutputTokens = 128, name = "divisi-tiny", temperature = 0 } = options
  const policy = LanguagePolicy.make({
    model,
    name,
    prompt: TinyPrompt.options,
    maxOutputTokens,
    temperature,
    // Corrections are none of the prompts that it has seen.
    resamples: 0
  })
  // It thinks before its lists, as it was trained to: nothing that reading would have to forgive.
  const plan = (context: Policy.Context) =>
    Effect.map(policy.propose({ ...context, self: false }), ({ workflow }) => ({ workflow }))
  return Policy.withFallback({ ...policy, propose: plan }, fallback, {
    declines: (context) => {
      const why = outside(context)
      return why && `${name} ${why}.`
    }
  })
}

/**
 * Loads the model that comes with this package, and makes a policy of it. It leaves memory with the scope.
 *
 * **Details**
 *
 * Loading takes about a quarter of a second, most of it for llama.cpp itself. A plan is what the model holds for the
 * best, held to a grammar, so it is always valid, and the same for the same question and pool.
 *
 * **Gotchas**
 *
 * It knows the gym alone. For real models and real questions, prompt or train a real one: see `LanguagePolicy`.
 *
 * **Example**
 *
 * ```ts no-run
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as GymPool from "@divisi/gym/GymPool"
 * import * as TinyConductor from "@divisi/policy-tiny/TinyConductor"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const policy = yield* TinyConductor.policy()
 *   return yield* Conductor.make({ policy, pool: GymPool.make() }).run("How many minutes are there in 3 days?")
 * }).pipe(Effect.scoped)
 * ```
 */
export const policy = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<Policy.Policy, LlamaCppError.LlamaCppError, Scope.Scope> {
  const { template, ...running } = settings
  const model = yield* LlamaCppModel.load({
    ...running,
    source: options.file ?? file,
    sequences: options.sequences ?? 4
  })
  return make(LlamaCppModel.worker(model, { template }), options)
})

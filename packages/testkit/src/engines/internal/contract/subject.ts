/** The engine under test, and helpers for the contract's cases. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Message } from "@divisi/core/Message"
import { LossTerms } from "@divisi/trainer"
import type { Datum, Engine, EngineError, EngineErrorReason, Loss, Pass, PerToken, Saved } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for testing an engine against the contract. */
export interface Options {
  /** Display name. */
  readonly name: string
  /**
   * Creates the engine. Called twice: an engine that loads the state saved by another must have the same architecture.
   */
  readonly make: Effect.Effect<Engine, EngineError, Scope.Scope>
  /** Tolerance for log-probabilities, and relative tolerance for their sums. Default: 1e-4. */
  readonly tolerance?: number | undefined
  /** Learning rate at which twenty steps on one completion make the completion more likely. Default: 0.01. */
  readonly learningRate?: number | undefined
  /** Text that the engine's tokenizer can encode. Default: short English sentences. */
  readonly texts?: readonly [string, string, string] | undefined
  /**
   * Completions with their prompts, for engines that accept only a certain format: two for the same prompt, and the
   * beginning of one for another prompt. By default, each text in `texts` is used as a completion of another one.
   */
  readonly examples?: readonly [Example, Example, Example] | undefined
}

/** A prompt and its completion. */
export interface Example {
  readonly messages: ReadonlyArray<Message>
  readonly text: string
}

/** The engine under test with its initial weights, and the data that the cases need. */
export interface Subject {
  readonly engine: Engine
  /** A second engine in its initial state. */
  readonly other: Effect.Effect<Engine, EngineError>
  /** Folder for saved state. */
  readonly folder: string
  readonly tolerance: number
  readonly learningRate: number
  /** Three completions for two prompts, with different lengths and with weights, advantages and log-probabilities. */
  readonly data: readonly [Datum, Datum, Datum]
}

/** A requirement that an engine must satisfy. */
export interface Case {
  /** Identifies the case, for example when it is declared as a gap: `sampler/seeds`. */
  readonly id: string
  /** Describes the expected behavior in one sentence. */
  readonly name: string
  readonly run: (subject: Subject) => Effect.Effect<void, EngineError>
}

// -------------------------------------------------------------------------------------------------------------------
// Subjects
// -------------------------------------------------------------------------------------------------------------------

/**
 * An engine shared by all cases and reset to its initial weights before each, because creating one can take seconds.
 */
export interface Shared {
  readonly with: (run: Case["run"]) => Promise<void>
  readonly close: () => Promise<void>
}

const cycle = (values: ReadonlyArray<number>, length: number): ReadonlyArray<number> =>
  Array.from({ length }, (_, index) => values[index % values.length]!)

const examplesOf = ([first, second, third]: readonly [string, string, string]) => {
  const after = (content: string, text: string): Example => ({ messages: [{ role: "user", content }], text })
  return [after(first, second), after(first, third), after(second, first)] as const
}

const dataOf = (engine: Engine, [first, second, third]: NonNullable<Options["examples"]>) =>
  Effect.gen(function* () {
    const { tokenizer } = engine
    const prompts = [first, third].map(({ messages }) => tokenizer.render(messages))
    const bare = [
      { prompt: prompts[0]!, completion: [...tokenizer.encode(first.text), tokenizer.endToken] },
      { prompt: prompts[0]!, completion: [...tokenizer.encode(second.text), tokenizer.endToken] },
      { prompt: prompts[1]!, completion: tokenizer.encode(third.text) }
    ]
    const { logProbs } = yield* engine.forward(bare)
    const complete = (index: number): Datum => {
      const { length } = bare[index]!.completion
      // Ratios inside and outside a clip range of 0.2, with advantages of both signs.
      const gaps = cycle([0.05, -0.4, 0.3, -0.1, 0.5], length)
      return {
        ...bare[index]!,
        weights: cycle([1, 0.5, 2], length + index).slice(index),
        advantages: cycle([1, -0.5, 1.5, -2], length + index).slice(index),
        logProbs: Array.from(logProbs[index]!, (logProb, token) => logProb - gaps[token]!)
      }
    }
    return [complete(0), complete(1), complete(2)] as const
  })

/** Shares an engine between cases. The engine is created when the first case runs. */
export const share = (options: Options): Shared => {
  const { learningRate = 0.01, tolerance = 1e-4, texts = ["One and two.", "Three, four!", "Yes"] } = options
  const { examples = examplesOf(texts) } = options
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-engine-"))
  const scope = Effect.runSync(Scope.make())
  const make = Scope.provide(options.make, scope)
  let made: { readonly engine: Engine; readonly first: Saved; readonly data: Subject["data"] } | undefined

  const open = Effect.gen(function* () {
    if (made !== undefined) return made
    const engine = yield* make
    made = { engine, first: yield* engine.save("first", folder), data: yield* dataOf(engine, examples) }
    return made
  })

  return {
    with: (run) =>
      Effect.runPromise(
        Effect.gen(function* () {
          const { data, engine, first } = yield* open
          yield* engine.load(first, folder)
          yield* run({ engine, other: make, folder, tolerance, learningRate, data })
        })
      ),
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      fs.rmSync(folder, { recursive: true, force: true })
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** Throws an error with the given message if the condition is false. */
export const expect = (is: boolean, otherwise: string): void => {
  if (!is) throw new Error(otherwise)
}

/** Whether two numbers are equal within the tolerance, which is relative for numbers above 1. */
export const near = (left: number, right: number, tolerance: number): boolean =>
  Math.abs(left - right) <= tolerance * Math.max(1, Math.abs(left), Math.abs(right))

export const expectNear = (what: string, found: number, expected: number, tolerance: number): void =>
  expect(near(found, expected, tolerance), `${what} is ${found} and should be ${expected} (within ${tolerance})`)

export const expectAllNear = (what: string, found: PerToken, expected: PerToken, tolerance: number): void => {
  expect(found.length === expected.length, `${what} has ${found.length} entries and should have ${expected.length}`)
  for (let index = 0; index < expected.length; index++) {
    expectNear(`${what} at token ${index}`, found[index]!, expected[index]!, tolerance)
  }
}

export const expectSamePass = (what: string, found: Pass, expected: Pass, tolerance: number): void => {
  expect(found.logProbs.length === expected.logProbs.length, `${what}: ${found.logProbs.length} data came back`)
  expected.logProbs.forEach((logProbs, datum) => {
    expectAllNear(`${what}: the log-probability of datum ${datum}`, found.logProbs[datum]!, logProbs, tolerance)
  })
}

/** Expects a failure with one of the given reasons. */
export const expectFailure = (
  what: string,
  effect: Effect.Effect<unknown, EngineError>,
  ...reasons: ReadonlyArray<EngineErrorReason["_tag"]>
): Effect.Effect<void> =>
  Effect.map(Effect.result(effect), (result) => {
    const found = result._tag === "Failure" ? result.failure.reason._tag : "success"
    expect(
      reasons.some((reason) => reason === found),
      `${what}: ${found} came back, and should be ${reasons.join(" or ")}`
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Expected passes and steps
// -------------------------------------------------------------------------------------------------------------------

const noEntropies = (datum: Datum) => new Float32Array(datum.completion.length)

/**
 * Calculates the loss with the reference implementation, from the log-probabilities and entropies returned by a pass.
 */
export const referenceLoss = (loss: Loss, data: ReadonlyArray<Datum>, pass: Pass): number =>
  data.reduce(
    (sum, datum, index) =>
      sum + LossTerms.of(loss, datum, pass.logProbs[index]!, pass.entropies?.[index] ?? noEntropies(datum)).loss,
    0
  )

/**
 * Returns supervised data with the same gradient as the given loss: the weight of each token is the negative derivative
 * with respect to its log-probability.
 */
export const linearised = (loss: Loss, data: ReadonlyArray<Datum>, pass: Pass): ReadonlyArray<Datum> =>
  data.map((datum, index) => {
    const { slopes_T } = LossTerms.of(loss, datum, pass.logProbs[index]!, noEntropies(datum))
    return { prompt: datum.prompt, completion: datum.completion, weights: Array.from(slopes_T, (slope) => -slope) }
  })

/**
 * With an epsilon this large, AdamW is plain gradient descent: `g / (|g| + epsilon)` is approximately `g / epsilon`.
 */
const descentEpsilon = 1e6

/** Returns AdamW settings that subtract `rate` times the gradient from the weights in the first step. */
export const descent = (rate: number) => ({
  learningRate: rate * descentEpsilon,
  epsilon: descentEpsilon,
  beta1: 0.9,
  beta2: 0.999
})

/** The subject of the engine contract's cases, and their helpers. */
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

/** How an engine is held to its contract. */
export interface Options {
  /** For people. */
  readonly name: string
  /** Makes the engine. It is called twice: an engine that loads what another saved has to be the same. */
  readonly make: Effect.Effect<Engine, EngineError, Scope.Scope>
  /** How far log-probabilities, and sums of them relative to their size, may be off; 1e-4 by default. */
  readonly tolerance?: number | undefined
  /** A learning rate at which twenty steps on one completion make it likelier; 0.01 by default. */
  readonly learningRate?: number | undefined
  /** Texts that the engine's tokenizer writes; some short English by default. */
  readonly texts?: readonly [string, string, string] | undefined
  /**
   * Completions of prompts, where the engine knows those of one form alone: two of the same prompt, and the beginning of
   * one of another. Each of the texts by default, after another of them.
   */
  readonly examples?: readonly [Example, Example, Example] | undefined
}

/** A prompt and what is written to it. */
export interface Example {
  readonly messages: ReadonlyArray<Message>
  readonly text: string
}

/** An engine with fresh weights, and what cases need. */
export interface Subject {
  readonly engine: Engine
  /** Another engine as it was made. */
  readonly other: Effect.Effect<Engine, EngineError>
  /** A folder to save in. */
  readonly folder: string
  readonly tolerance: number
  readonly learningRate: number
  /** Three completions of two prompts, of different lengths, with weights, advantages and log-probabilities. */
  readonly data: readonly [Datum, Datum, Datum]
}

/** One thing that an engine must do. */
export interface Case {
  /** By which a gap is declared, e.g. `sampler/seeds`. */
  readonly id: string
  /** A sentence on the engine's expected behaviour. */
  readonly name: string
  readonly run: (subject: Subject) => Effect.Effect<void, EngineError>
}

// -------------------------------------------------------------------------------------------------------------------
// Subjects
// -------------------------------------------------------------------------------------------------------------------

/** One engine for all cases, put back to its first weights before each: making one can take seconds. */
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
      // Ratios on both sides of a clip of 0.2, and advantages of both signs.
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

/** Shares an engine between cases. It is made when the first of them runs. */
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

/** Throws with a sentence. */
export const expect = (is: boolean, otherwise: string): void => {
  if (!is) throw new Error(otherwise)
}

/** Whether two numbers are as near as the tolerance wants, relative to their size where that is above 1. */
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

/** Expects an error of one of these reasons. */
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

/** The loss of data by the reference, at the log-probabilities and entropies that a pass found. */
export const referenceLoss = (loss: Loss, data: ReadonlyArray<Datum>, pass: Pass): number =>
  data.reduce(
    (sum, datum, index) =>
      sum + LossTerms.of(loss, datum, pass.logProbs[index]!, pass.entropies?.[index] ?? noEntropies(datum)).loss,
    0
  )

/** Supervised data whose gradient is that of a loss: a token's weight is less the derivative by its log-probability. */
export const linearised = (loss: Loss, data: ReadonlyArray<Datum>, pass: Pass): ReadonlyArray<Datum> =>
  data.map((datum, index) => {
    const { slopes_T } = LossTerms.of(loss, datum, pass.logProbs[index]!, noEntropies(datum))
    return { prompt: datum.prompt, completion: datum.completion, weights: Array.from(slopes_T, (slope) => -slope) }
  })

/** An epsilon so large that AdamW is plain gradient descent: `g / (|g| + epsilon)` is `g / epsilon`. */
const descentEpsilon = 1e6

/** Settings of AdamW that take `rate` times the gradient off the weights at the first step. */
export const descent = (rate: number) => ({
  learningRate: rate * descentEpsilon,
  epsilon: descentEpsilon,
  beta1: 0.9,
  beta2: 0.999
})

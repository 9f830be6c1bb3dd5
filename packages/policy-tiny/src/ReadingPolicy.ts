/**
 * A Conductor that reads who is on the team: descriptions, records of past answers, and the question, with a network of
 * six tenths of a million weights in plain TypeScript.
 *
 * A question is cut into parts by its wording, each text is read by itself, and for each part somebody is pointed at:
 * who answers, who checks, or nobody. What it can ask for are the kinds of question that it was trained with.
 */
import { fileURLToPath } from "node:url"
import * as Policy from "@divisi/core/Policy"
import * as Seed from "@divisi/core/Seed"
import * as Task from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { GgufError as Errors, type GgufWriter } from "@divisi/gguf"
import * as Reader from "@divisi/gguf/Reader"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as ChoiceHead from "./ChoiceHead.ts"
import { partsOf } from "./internal/partsOf.ts"
import * as PartsPlan from "./PartsPlan.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A trained reader and its head. */
export interface Model {
  readonly reader: Reader.Weights
  readonly head: ChoiceHead.Weights
}

/** A part of a question with what was read of each worker for it. */
export interface Situation extends LexicalPolicy.Part {
  readonly features: ChoiceHead.Features
}

/** How it plans. */
export interface Options {
  /** `"reading"` by default. */
  readonly name?: string | undefined
  /** 0 by default: its most likely choices. At 1, choices by lot with their probabilities. */
  readonly temperature?: number | undefined
  /** Called with each part's situation and choice, for training. */
  readonly onChoice?: ((situation: Situation, choice: ChoiceHead.Choice) => void) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** What a text says of each subject, at most: that somebody is good, weak, or checks. */
interface Said {
  readonly good: ReadonlyArray<number>
  readonly weak: ReadonlyArray<number>
  readonly checks: ReadonlyArray<number>
  readonly flags: ReadonlyArray<number>
  /** Of a question: the probability of each subject. */
  readonly about: ReadonlyArray<number>
}

const mostSaid = ({ marks, subjects }: Reader.Reading, mark: (typeof Reader.marks)[number]): ReadonlyArray<number> => {
  const at = Reader.marks.indexOf(mark)
  return Array.from({ length: Reader.subjects }, (_, subject) =>
    marks.reduce((most, shares, word) => Math.max(most, shares[at]! * subjects[word]![subject]!), 0)
  )
}

/** How much a text says each flag: the mean of what it says as a whole and of the word that says it most. */
const flagsOf = ({ flags, marks }: Reader.Reading): ReadonlyArray<number> =>
  Reader.flags.map((flag, index) => {
    const at = Reader.marks.indexOf(flag)
    return (flags[index]! + Math.max(...marks.map((shares) => shares[at]!))) / 2
  })

const saidBy = (reader: Reader.Weights, text: string): Said => {
  const reading = Reader.read(reader, text)
  return {
    good: mostSaid(reading, "good"),
    weak: mostSaid(reading, "weak"),
    checks: mostSaid(reading, "check"),
    flags: flagsOf(reading),
    about: reading.about
  }
}

/** What is kept of texts that were read before. */
const mostKept = 10_000

/** Reads each text once. */
const remembering = (reader: Reader.Weights) => {
  const kept = new Map<string, Said>()
  return (text: string): Said => {
    const found = kept.get(text) ?? saidBy(reader, text)
    if (kept.size >= mostKept) kept.clear()
    kept.set(text, found)
    return found
  }
}

/** A description without the record that it ends with, and the record. */
const halves = (description: string): readonly [said: string, record: string] => {
  const at = description.lastIndexOf("\nRecord:")
  return at < 0 ? [description, ""] : [description.slice(0, at), description.slice(at)]
}

const dot = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number =>
  left.reduce((sum, value, index) => sum + value * right[index]!, 0)

/** A match in words that is as good as any. */
const fullMatch = 8

/** The price of a worker, in powers of ten. Who costs nothing is as good as the cheapest. */
const priceOf = ({ pricing }: Worker): number => Math.log10(Math.max(0.01, pricing?.outputPerMillion ?? 1))

const longestQuestion = 28
const lastOfQuestion = 12

/** The words of a question that are read: of a long one its beginning and its end. */
const shortened = (text: string): string => {
  const words = Reader.wordsOf(text)
  return words.length <= longestQuestion + lastOfQuestion
    ? text
    : [...words.slice(0, longestQuestion), ...words.slice(-lastOfQuestion)].join(" ")
}

/** Reads the parts of a question, and for each what the workers say of themselves. No text is read twice. */
export const read = (reader: Reader.Weights): ((question: string, pool: WorkerPool) => ReadonlyArray<Situation>) => {
  const remember = remembering(reader)
  return (question, pool) => {
    const { workers } = pool
    const matchesOf = LexicalPolicy.matches(pool)
    const prices = workers.map(priceOf)
    const cheapest = Math.min(...prices)
    const known = workers.map(({ description = "" }) => {
      const [said, record] = halves(description)
      return { said: remember(said), record: record === "" ? undefined : remember(record) }
    })
    return partsOf(question).map((part) => {
      const { about } = remember(shortened(part.text))
      const matches = matchesOf(part.text)
      const bestMatch = Math.max(...matches)
      const features = known.map(({ record, said }, ordinal) => {
        const good = dot(said.good, about)
        const weak = dot(said.weak, about)
        return [
          good,
          weak,
          dot(said.checks, about),
          Math.max(...said.good),
          Math.max(...said.checks),
          ...said.flags,
          record === undefined ? 0 : 1,
          record === undefined ? 0 : dot(record.good, about),
          record === undefined ? 0 : dot(record.weak, about),
          prices[ordinal]! - cheapest,
          good * (1 - weak),
          said.flags[Reader.flags.indexOf("general")]! * (1 - weak),
          bestMatch === 0 ? 0 : matches[ordinal]! / bestMatch,
          Math.min(1, matches[ordinal]! / fullMatch)
        ]
      })
      return { ...part, features }
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Choosing
// -------------------------------------------------------------------------------------------------------------------

/** An index by lot, by log-probabilities. */
const byLot = (values: ReadonlyArray<number>, temperature: number, draw: () => number): number => {
  const shares = values.map((value) => Math.exp(value / temperature))
  let left = draw() * shares.reduce((sum, share) => sum + share, 0)
  const found = shares.findIndex((share) => {
    left -= share
    return left < 0
  })
  return found < 0 ? ChoiceHead.greatest(values) : found
}

/**
 * Makes a policy of a trained model.
 *
 * **Details**
 *
 * Each part of the question gets the worker that is pointed at; two attempts and a check where a checker is pointed at,
 * too. Where nobody is, the run ends `refused` before anybody was paid. Parts that do not need each other run at once.
 * In a later round, an answer stands unless a critic objected; workers that failed are not asked again.
 *
 * **Gotchas**
 *
 * It knows the eight kinds of question of the gym and reads English alone. A record of past answers is the last line of
 * a description: `Record: dates 3/4 high, logic 0/2 low.`
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Teams from "@divisi/gym/Teams"
 * import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
 *   const [team] = Teams.draw({ split: "test", count: 1, workers: [5, 5], unanswerable: 0 })
 *   return yield* Conductor.make({ policy, pool: team!.pool }).run(team!.task)
 * })
 * const { ending } = await Effect.runPromise(program)
 * ending // => "answered"
 * ```
 */
export const make = ({ head, reader }: Model, options: Options = {}): Policy.Policy => {
  const { name = "reading", onChoice, temperature = 0 } = options
  const situations = read(reader)
  return {
    name,
    propose: ({ maxSteps, pool, previous, seed, task }) => {
      if (previous?.feedback === undefined && Policy.canStand(previous)) {
        return Effect.succeed({ workflow: { steps: [] } })
      }
      const draw = Seed.draw(seed)
      const pick = (values: ReadonlyArray<number>) =>
        temperature === 0 ? ChoiceHead.greatest(values) : byLot(values, temperature, draw)
      const parts = situations(Task.question(task), pool).map((situation) => {
        const odds = ChoiceHead.odds(head, situation.features, previous?.failed)
        const worker = pick(odds.worker)
        const choice = { worker, checker: pick(odds.checker(worker)) }
        onChoice?.(situation, choice)
        return { ...situation, ...choice }
      })
      const count = pool.workers.length
      if (parts.some(({ worker }) => worker === count)) {
        const detail = "Nobody on the team seems to be able to answer this."
        return Effect.fail(new Policy.PolicyError({ policy: name, detail, isRefusal: true }))
      }
      const chosen = parts.map(({ checker, needs, text, worker }) => ({
        text,
        needs,
        worker,
        checker: checker === count ? undefined : checker
      }))
      return Effect.succeed({ workflow: PartsPlan.make(chosen, maxSteps) })
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** A part of the file: the head's weights. */
const headPart = "choice_head"

/** Where the model is that comes with this package. */
export const file: string = fileURLToPath(new URL("../model/divisi-reader.gguf", import.meta.url))

/** Reads a model that `pnpm --filter @divisi/recipes reader` has made: {@link file} by default. */
export const load = Effect.fnUntraced(function* (path: string = file) {
  const { metadata, parts, weights } = yield* Reader.load(path)
  const head = Float64Array.from(parts[headPart] ?? [])
  if (head.length !== ChoiceHead.size) {
    return yield* Errors.make({ _tag: "Corrupt", detail: "its head is missing or of another size." }, path)
  }
  return { reader: weights, head, metadata } satisfies Model & { readonly metadata: Readonly<Record<string, string>> }
})

/** Writes a model, with 16 bits for each of the reader's weights. What else is said of it goes into the metadata. */
export const save = (
  path: string,
  { head, reader }: Model,
  metadata: Readonly<Record<string, string>>
): Effect.Effect<GgufWriter.Written, Errors.GgufError> =>
  Reader.save(path, { weights: reader, metadata, parts: { [headPart]: Float32Array.from(head) } }, "F16")

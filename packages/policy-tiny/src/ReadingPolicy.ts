/**
 * A Conductor that reads who is on the team: descriptions, records of past answers, and the question, with three networks
 * of six tenths of a million weights each in plain TypeScript.
 *
 * A question is cut into parts by its wording, each text is read by itself, and for each part somebody is pointed at:
 * who answers, who checks, or nobody. It knows the kinds of question that it was trained with; in a part of another kind
 * it looks for somebody who speaks of that alone, in the part's own words.
 */

import { fileURLToPath } from "node:url"
import { LanguagePolicy, Seed, Options as Tables } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import type * as Policy from "@divisi/core/Policy"
import { free, type Usage } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import { GgufError as Errors, type GgufWriter, Reader } from "@divisi/gguf"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChoiceHead from "./ChoiceHead.ts"
import * as Parts from "./internal/partsOf.ts"
import * as ReadingText from "./ReadingText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Trained readers and their head. */
export interface Model {
  /** Each misreads other texts: what they say of one is averaged. */
  readonly readers: ReadonlyArray<Reader.Weights>
  readonly head: ChoiceHead.Weights
}

/** How it plans. */
export interface Options {
  /** `"reading"` by default. */
  readonly name?: string | undefined
  /** 0 by default: its most likely choices. At 1, choices by lot with their probabilities. */
  readonly temperature?: number | undefined
  /**
   * What ten USD per million tokens of output weigh, in right answers, 0 to 1: 0.1 by default. With more it asks cheaper
   * workers. Heads are taught with 0.03 to 0.6.
   */
  readonly priceWeight?: number | undefined
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
  /** Of a part of a question: the probability that it refers to an earlier one. */
  readonly refers: number
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

const saidBy = (readers: ReadonlyArray<Reader.Weights>, text: string): Said => {
  const readings = readers.map((reader) => Reader.read(reader, text))
  const mean = (of: (reading: Reader.Reading) => ReadonlyArray<number>): ReadonlyArray<number> => {
    const [first, ...others] = readings.map(of)
    return first!.map((value, at) => others.reduce((sum, other) => sum + other[at]!, value) / readings.length)
  }
  const [refers] = mean((reading) => [reading.refers])
  return {
    good: mean((reading) => mostSaid(reading, "good")),
    weak: mean((reading) => mostSaid(reading, "weak")),
    checks: mean((reading) => mostSaid(reading, "check")),
    flags: mean(flagsOf),
    about: mean(({ about }) => about),
    refers: refers!
  }
}

/** What is kept of texts that were read before. */
const mostKept = 10_000

/** Reads each text once. */
const remembering = (readers: ReadonlyArray<Reader.Weights>) => {
  const kept = new Map<string, Said>()
  return (text: string): Said => {
    const found = kept.get(text) ?? saidBy(readers, text)
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

/** What is read of a worker: of its description, and of the record behind it. */
interface Known {
  readonly said: Said
  readonly record: Said | undefined
}

/** What a part is about, and what of that is known of each worker; how well each one's words match those of the part. */
interface Sought {
  readonly about: ReadonlyArray<number>
  readonly known: ReadonlyArray<Known>
  readonly matches: ReadonlyArray<number>
}

/** How likely one kind of question is where the readers are sure. */
const sure = 0.999

/** Whether somebody speaks of what the readers know at all: who does only something else says nothing of it. */
const speaksOfKinds = ({ checks, flags, good, weak }: Said): boolean =>
  Math.max(...good, ...weak, ...checks, flags[Reader.flags.indexOf("general")]!) > 0.8

const nothing = Array.from({ length: Reader.subjects }, () => 0)
const itsOwn = nothing.with(0, 1)

/**
 * A part of no kind that the readers know is of a kind of its own. Good at that is whoever has most of its words, where
 * these are words of no known kind either; all others say nothing of it. Where the readers are sure of the part, or there
 * is no such worker, they are believed.
 */
const soughtIn = (sought: Sought): Sought => {
  const { about, known, matches } = sought
  const specialist = matches.indexOf(Math.max(...matches))
  const { record, said } = known[specialist]!
  if (Math.max(...about) >= sure || matches[specialist] === 0 || record !== undefined || speaksOfKinds(said)) {
    return sought
  }
  const isIt = (ordinal: number) => ordinal === specialist
  return {
    about: itsOwn,
    known: known.map(({ said }, ordinal) => ({
      said: { ...said, good: isIt(ordinal) ? itsOwn : nothing, weak: nothing, checks: nothing },
      record: undefined
    })),
    matches: matches.map((_, ordinal) => (isIt(ordinal) ? fullMatch : 0))
  }
}

/** The price of a worker, in USD per million tokens of output. */
const priceOf = ({ pricing }: ReadingText.Colleague): number => pricing?.outputPerMillion ?? 1

/** The prices that a head has met, in USD per million tokens of output: beyond, it goes by the nearest. */
const [leastPrice, mostPrice] = [0.2, 20]

const metPrice = (price: number): number => Math.min(mostPrice, Math.max(leastPrice, price))

/** What ten USD per million tokens of output weigh in right answers, unless that is told. */
export const defaultPriceWeight = 0.1

/** What price a weight is of, in USD per million tokens of output. */
const unitPrice = 10

/** What a call weighs, whatever it costs. */
const callWeight = 0.01

/** What a call costs, in right answers, of a worker at this price in USD per million tokens of output. */
export const callCost = (price: number, priceWeight: number): number => callWeight + priceWeight * (price / unitPrice)

const longestQuestion = 28
const lastOfQuestion = 12

/** The words of a question that are read: of a long one its beginning and its end. */
const shortened = (text: string): string => {
  const words = Reader.wordsOf(text)
  return words.length <= longestQuestion + lastOfQuestion
    ? text
    : [...words.slice(0, longestQuestion), ...words.slice(-lastOfQuestion)].join(" ")
}

/**
 * What is known of each part before one, for whether that needs it. The rule of words counts as far as the part may refer
 * to another at all, by the root of that probability: a reader that doubts leaves more to the rule than one that is sure.
 */
const needsOf = (
  parts: ReadonlyArray<LexicalPolicy.Part>,
  at: number,
  refers: number
): ReadonlyArray<ReadonlyArray<number>> => {
  const { needs, text } = parts[at]!
  const texts = parts.slice(0, at).map((earlier) => earlier.text)
  const byWords = LexicalPolicy.needsOf(Parts.unnamed(text), false, texts)
  const isNamed = texts.map((earlier) => Parts.namesOf(earlier).some((name) => Parts.mentions(text, name)))
  const isAnyNamed = isNamed.includes(true)
  const doubt = Math.sqrt(refers)
  return isNamed.map((named, earlier) => {
    const isLast = earlier === at - 1
    return [
      needs.includes(earlier) ? doubt : 0,
      byWords.includes(earlier) ? doubt : 0,
      named ? 1 : 0,
      isAnyNamed && !named ? 1 : 0,
      isLast ? 1 : 0,
      doubt,
      isLast && !isAnyNamed ? doubt : 0
    ]
  })
}

/**
 * Reads the parts of a question, and for each what the workers say of themselves and whether it refers to those before
 * it. No text is read twice.
 */
export const read = (
  readers: ReadonlyArray<Reader.Weights>,
  priceWeight = defaultPriceWeight
): ((
  question: string,
  pool: { readonly workers: ReadonlyArray<ReadingText.Colleague> }
) => ReadonlyArray<ReadingText.Situation>) => {
  const remember = remembering(readers)
  return (question, pool) => {
    const { workers } = pool
    const matchesOf = LexicalPolicy.matches(pool)
    const prices = workers.map(priceOf)
    const met = prices.map(metPrice)
    const cheapest = Math.min(...met)
    const costs = prices.map((price) => callCost(price, priceWeight))
    const team = workers.map(({ description = "" }): Known => {
      const [said, record] = halves(description)
      return { said: remember(said), record: record === "" ? undefined : remember(record) }
    })
    const parts = Parts.partsOf(question)
    return parts.map((part, at) => {
      const read = remember(shortened(part.text))
      // That a part names its own answer says nothing of others.
      const { refers } = remember(shortened(Parts.unnamed(part.text)))
      const { about, known, matches } = soughtIn({ about: read.about, known: team, matches: matchesOf(part.text) })
      const bestMatch = Math.max(...matches)
      const checks = known.map(({ said }) => dot(said.checks, about))
      const features = known.map(({ record, said }, ordinal) => {
        const good = dot(said.good, about)
        const weak = dot(said.weak, about)
        return [
          good,
          weak,
          checks[ordinal]!,
          Math.max(...said.good),
          Math.max(...said.checks),
          ...said.flags,
          record === undefined ? 0 : 1,
          record === undefined ? 0 : dot(record.good, about),
          record === undefined ? 0 : dot(record.weak, about),
          Math.log10(met[ordinal]! / cheapest),
          good * (1 - weak),
          said.flags[Reader.flags.indexOf("general")]! * (1 - weak),
          bestMatch === 0 ? 0 : matches[ordinal]! / bestMatch,
          Math.min(1, matches[ordinal]! / fullMatch),
          // Whether there is somebody to check what this one answers.
          Math.max(0, ...checks.filter((_, other) => other !== ordinal)),
          met[ordinal]! / unitPrice
        ]
      })
      return { text: part.text, features, costs, needs: needsOf(parts, at, refers) }
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Choosing
// -------------------------------------------------------------------------------------------------------------------

/** An index by lot, by log-probabilities. */
export const byLot = (values: ReadonlyArray<number>, temperature: number, draw: () => number): number => {
  const shares = values.map((value) => Math.exp(value / temperature))
  let left = draw() * shares.reduce((sum, share) => sum + share, 0)
  const found = shares.findIndex((share) => {
    left -= share
    return left < 0
  })
  return found < 0 ? ChoiceHead.greatest(values) : found
}

/** The text with the choices that are picked by their log-probabilities. */
const written = (
  head: ChoiceHead.Weights,
  asked: ReadingText.Asked,
  situations: ReadonlyArray<ReadingText.Situation>,
  pick: (logProbs: ReadonlyArray<number>) => number
): string => {
  const pieces = ReadingText.write(head, asked, situations)
  let text = ""
  for (let next = pieces.next(0); next.done !== true; ) {
    const piece = next.value
    const chosen = piece.type === "choice" ? pick(piece.logProbs) : 0
    text += piece.type === "choice" ? piece.texts[chosen]! : piece.text
    next = pieces.next(chosen)
  }
  return text
}

/** Its tokens are words. */
const usageOf = (messages: WorkerRequest["messages"], text: string): Usage => ({
  inputTokens: messages.reduce((sum, message) => sum + Reader.wordsOf(Message.text(message)).length, 0),
  outputTokens: Reader.wordsOf(text).length
})

/**
 * A trained model as a worker that writes plans, for {@link of}: it is asked with the prompt of `ReadingText.options`.
 * At a temperature of 0 it makes its most likely choices, at 1 it draws them with their probabilities.
 */
export const worker = ({ head, readers }: Model, id = "reading", priceWeight = defaultPriceWeight): Worker => {
  const situations = read(readers, priceWeight)
  return {
    id,
    pricing: free,
    recovery: "free",
    // It is quicker than a cache, and other weights have the same name.
    isCacheable: false,
    generate: ({ messages, seed = 0, temperature = 0 }) =>
      Stream.unwrap(
        Effect.suspend(() => {
          const asked = ReadingText.asked(messages)
          const detail = "it reads the prompt of ReadingText alone"
          if (asked === undefined) {
            return Effect.fail(new WorkerError({ worker: id, reason: { _tag: "InvalidRequest", detail } }))
          }
          const draw = Seed.draw(seed)
          const text = written(head, asked, situations(asked.question, asked), (values) =>
            temperature === 0 ? ChoiceHead.greatest(values) : byLot(values, temperature, draw)
          )
          return Effect.succeed(
            Stream.make<[WorkerPart, WorkerPart]>(
              { type: "text", text },
              { type: "finish", reason: "stop", usage: usageOf(messages, text) }
            )
          )
        })
      )
  }
}

/**
 * A policy whose plans another worker writes as {@link worker} does: the present weights of a training.
 */
export const of = (
  model: Worker,
  { name = "reading", temperature = 0 }: Omit<Options, "priceWeight"> = {}
): Policy.Policy => {
  const policy = LanguagePolicy.make({
    model,
    name,
    temperature,
    prompt: ReadingText.options,
    refusal: ReadingText.refusal,
    // What it writes can always be read.
    resamples: 0
  })
  // A line for each part before the lists is no slip to note.
  const propose = (context: Policy.Context) =>
    Effect.map(policy.propose(context), ({ notes: _, ...proposal }): Policy.Proposal => proposal)
  return { ...policy, propose }
}

const table = {
  name: Tables.name,
  temperature: Tables.number(0),
  priceWeight: Tables.number(0)
} satisfies Tables.ShapeOf<Options>

/**
 * Makes a policy of a trained model.
 *
 * **Details**
 *
 * It is a `LanguagePolicy` whose model writes a line for each part of the question, and then the workflow: each part
 * gets the worker that is pointed at; two attempts and a check where a checker is pointed at, too. Where nobody is, the
 * run ends `refused` before anybody was paid. Of each part it chooses, too, which earlier ones it needs; the others run
 * at once. In a later round, an answer stands unless a critic objected; workers that failed are not asked again.
 *
 * **Gotchas**
 *
 * It knows the eight kinds of question of the gym and reads English alone. A part of another kind goes to whoever speaks
 * of no known kind, in the part's own words; where there is no such worker, it does not know who is good at it. A record of past answers is the last line of
 * a description: `Record: dates 3/4 high, logic 0/2 low.`
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as GymPool from "@divisi/gym/GymPool"
 * import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
 *   const conductor = Conductor.make({ policy, pool: GymPool.make({ latencyMillis: 0 }) })
 *   return yield* conductor.run("How many minutes are there in 3 days and 4 hours?")
 * })
 * const { ending } = await Effect.runPromise(program)
 * ending // => "answered"
 * ```
 */
export const make = (model: Model, options: Options = {}): Policy.Policy => {
  Tables.check("ReadingPolicy.make", options, table)
  return of(worker(model, options.name, options.priceWeight), options)
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** A part of the file: the head's weights. */
const headPart = "choice_head"

/** Where the model is that comes with this package. */
export const file: string = fileURLToPath(new URL("../model/divisi-reader.gguf", import.meta.url))

/** Reads a model that `pnpm --filter @divisi/tiny-conductor reader` has made: {@link file} by default. */
export const load = Effect.fnUntraced(function* (path: string = file) {
  const { metadata, parts, readers } = yield* Reader.load(path)
  const head = Float64Array.from(parts[headPart] ?? [])
  if (head.length !== ChoiceHead.size) {
    return yield* Errors.make({ _tag: "Corrupt", detail: "its head is missing or of another size." }, path)
  }
  return { readers, head, metadata } satisfies Model & { readonly metadata: Readonly<Record<string, string>> }
})

/** Writes a model, with 16 bits for each of the readers' weights. What else is said of it goes into the metadata. */
export const save = (
  path: string,
  { head, readers }: Model,
  metadata: Readonly<Record<string, string>>
): Effect.Effect<GgufWriter.Written, Errors.GgufError> =>
  Reader.save(path, { readers, metadata, parts: { [headPart]: Float32Array.from(head) } }, "F16")

/**
 * A Conductor that reads the question, the workers' descriptions, and their records of past answers. It consists of
 * three networks with 600,000 weights each, run in plain TypeScript.
 *
 * A question is split into parts by its wording, and each text is read separately. For each part, the policy chooses a
 * worker to answer and one to check, or no worker. It supports the kinds of question that it was trained with. A part
 * of another kind goes to a worker whose description mentions only that kind, in the same terms as the part.
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

/** Trained readers with the head that chooses workers. */
export interface Model {
  /** The readers, whose readings are averaged because each one misreads different texts. */
  readonly readers: ReadonlyArray<Reader.Weights>
  readonly head: ChoiceHead.Weights
}

/** Options for planning. */
export interface Options {
  /** Name of the policy. Default: `"reading"`. */
  readonly name?: string | undefined
  /**
   * Sampling temperature. Default: 0, which selects the most likely choices. At 1, choices are sampled with their
   * probabilities.
   */
  readonly temperature?: number | undefined
  /**
   * Weight of a price of ten USD per million output tokens, in units of correct answers, from 0 to 1. A higher weight
   * selects cheaper workers. Default: 0.1. Heads are trained with weights from 0.03 to 0.6.
   */
  readonly priceWeight?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** The strongest statement in a text about each subject: that a worker is good at it, weak at it, or checks it. */
interface Said {
  readonly good: ReadonlyArray<number>
  readonly weak: ReadonlyArray<number>
  readonly checks: ReadonlyArray<number>
  readonly flags: ReadonlyArray<number>
  /** The probability of each subject, for a part of a question. */
  readonly about: ReadonlyArray<number>
  /** The probability that a part of a question refers to an earlier part. */
  readonly refers: number
}

const mostSaid = ({ marks, subjects }: Reader.Reading, mark: (typeof Reader.marks)[number]): ReadonlyArray<number> => {
  const at = Reader.marks.indexOf(mark)
  return Array.from({ length: Reader.subjects }, (_, subject) =>
    marks.reduce((most, shares, word) => Math.max(most, shares[at]! * subjects[word]![subject]!), 0)
  )
}

/** Returns the score of each flag: the mean of the score of the whole text and that of its highest-scoring word. */
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

/** Maximum number of cached readings. */
const mostKept = 10_000

/** Returns a reader that caches its readings by text. */
const remembering = (readers: ReadonlyArray<Reader.Weights>) => {
  const kept = new Map<string, Said>()
  return (text: string): Said => {
    const found = kept.get(text) ?? saidBy(readers, text)
    if (kept.size >= mostKept) kept.clear()
    kept.set(text, found)
    return found
  }
}

/** Splits a description into its text and the record at its end. */
const halves = (description: string): readonly [said: string, record: string] => {
  const at = description.lastIndexOf("\nRecord:")
  return at < 0 ? [description, ""] : [description.slice(0, at), description.slice(at)]
}

const dot = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number =>
  left.reduce((sum, value, index) => sum + value * right[index]!, 0)

/** Match score at which two texts count as fully matching. */
const fullMatch = 8

/** Readings of a worker's description and of its record. */
interface Known {
  readonly said: Said
  readonly record: Said | undefined
}

/**
 * The subject of a part, each worker's features for it, and how well the words of each description match those of the
 * part.
 */
interface Sought {
  readonly about: ReadonlyArray<number>
  readonly known: ReadonlyArray<Known>
  readonly matches: ReadonlyArray<number>
}

/** Minimum probability of a kind of question at which the readers are certain. */
const sure = 0.999

/**
 * Whether a text mentions any kind that the readers were trained with. A description of a worker for an unknown kind
 * does not.
 */
const speaksOfKinds = ({ checks, flags, good, weak }: Said): boolean =>
  Math.max(...good, ...weak, ...checks, flags[Reader.flags.indexOf("general")]!) > 0.8

const nothing = Array.from({ length: Reader.subjects }, () => 0)
const itsOwn = nothing.with(0, 1)

/**
 * Handles a part of an unknown kind. The worker whose description matches most of the part's words counts as good at
 * it, provided that these words belong to no known kind; the other workers' descriptions are ignored. If the readers
 * are certain about the part, or there is no such worker, their reading is used.
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

/** Returns the price of a worker, in USD per million output tokens. */
const priceOf = ({ pricing }: ReadingText.Colleague): number => pricing?.outputPerMillion ?? 1

/**
 * The range of prices that heads are trained with, in USD per million output tokens. Prices outside of it are clamped.
 */
const [leastPrice, mostPrice] = [0.2, 20]

const metPrice = (price: number): number => Math.min(mostPrice, Math.max(leastPrice, price))

/** Default weight of a price of ten USD per million output tokens, in units of correct answers. */
export const defaultPriceWeight = 0.1

/** The price to which a weight of 1 refers, in USD per million output tokens. */
const unitPrice = 10

/** Fixed cost of a call, in units of correct answers, regardless of its price. */
const callWeight = 0.01

/** Returns the cost of a call in units of correct answers; `price` is in USD per million output tokens. */
export const callCost = (price: number, priceWeight: number): number => callWeight + priceWeight * (price / unitPrice)

const longestQuestion = 28
const lastOfQuestion = 12

/** Shortens a long question to its beginning and end, which are the parts that are read. */
const shortened = (text: string): string => {
  const words = Reader.wordsOf(text)
  return words.length <= longestQuestion + lastOfQuestion
    ? text
    : [...words.slice(0, longestQuestion), ...words.slice(-lastOfQuestion)].join(" ")
}

/**
 * Returns the features of each earlier part, for deciding whether this part needs it. The score from the word rule is
 * scaled by the square root of the probability that the part refers to any other, so the rule has more influence if the
 * reader is uncertain.
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
 * Reads the parts of a question: the workers' statements about each part's subject, and whether the part refers to
 * earlier ones. Each text is read once.
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
      // A part that names its own answer does not refer to other parts by doing so.
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
          // Whether another worker can check this one's answer.
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

/** Samples an index from log-probabilities. */
export const byLot = (values: ReadonlyArray<number>, temperature: number, draw: () => number): number => {
  const shares = values.map((value) => Math.exp(value / temperature))
  let left = draw() * shares.reduce((sum, share) => sum + share, 0)
  const found = shares.findIndex((share) => {
    left -= share
    return left < 0
  })
  return found < 0 ? ChoiceHead.greatest(values) : found
}

/** Generates the text, choosing each option by its log-probability. */
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

/** Words are counted as tokens. */
const usageOf = (messages: WorkerRequest["messages"], text: string): Usage => ({
  inputTokens: messages.reduce((sum, message) => sum + Reader.wordsOf(Message.text(message)).length, 0),
  outputTokens: Reader.wordsOf(text).length
})

/**
 * Returns a trained model as a worker that writes plans, for {@link of}. Its prompt is defined by
 * `ReadingText.options`. At temperature 0, it makes the most likely choices; at 1, it samples choices with their
 * probabilities.
 */
export const worker = ({ head, readers }: Model, id = "reading", priceWeight = defaultPriceWeight): Worker => {
  const situations = read(readers, priceWeight)
  return {
    id,
    pricing: free,
    recovery: "free",
    // Running the model is faster than a cache lookup, and models with other weights have the same name.
    isCacheable: false,
    generate: ({ messages, seed = 0, temperature = 0 }) =>
      Stream.unwrap(
        Effect.suspend(() => {
          const asked = ReadingText.asked(messages)
          const detail = "it supports only the prompt of ReadingText"
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
 * Creates a policy whose plans are written by a worker such as {@link worker}, for example with the current weights of
 * a training run.
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
    // Its text can always be parsed.
    resamples: 0
  })
  // A line for each part is expected before the lists, so it is not reported in a note.
  const propose = (context: Policy.Context) =>
    Effect.map(policy.propose(context), ({ notes: _, ...proposal }): Policy.Proposal => proposal)
  return { ...policy, propose }
}

const table = {
  name: Tables.name,
  temperature: Tables.temperature,
  priceWeight: Tables.number(0)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a policy from a trained model.
 *
 * **Details**
 *
 * The policy is a `LanguagePolicy` whose model writes a line for each part of the question, followed by the workflow.
 * Each part gets the chosen worker, or two attempts and a check if a checker is chosen too. If no worker is chosen, the
 * run ends as `refused` before any call is paid for. The model also chooses which earlier parts each part needs;
 * independent parts run concurrently. In a later round, an answer is accepted unless a critic rejected it, and failed
 * workers are not called again.
 *
 * **Gotchas**
 *
 * The model supports only English and the gym's eight kinds of question. A part of another kind goes to a worker whose
 * description mentions no known kind and uses the same terms as the part. Without such a worker, the choice for that
 * part is arbitrary. A record of past answers must be the last line of a description: `Record: dates 3/4 high, logic
 * 0/2 low.`
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

/** Name of the part of the file that stores the head's weights. */
const headPart = "choice_head"

/** Path of the model file in this package. */
export const file: string = fileURLToPath(new URL("../model/divisi-reader.gguf", import.meta.url))

/** Loads a model created by `pnpm --filter @divisi/tiny-conductor reader`. Default: {@link file}. */
export const load = Effect.fnUntraced(function* (path: string = file) {
  const { metadata, parts, readers } = yield* Reader.load(path)
  const head = Float64Array.from(parts[headPart] ?? [])
  if (head.length !== ChoiceHead.size) {
    return yield* Errors.make({ _tag: "Corrupt", detail: "its head is missing or has the wrong size." }, path)
  }
  return { readers, head, metadata } satisfies Model & { readonly metadata: Readonly<Record<string, string>> }
})

/** Writes a model to a file, with reader weights in 16 bits. `facts` are added to the metadata. */
export const save = (
  path: string,
  { head, readers }: Model,
  metadata: Readonly<Record<string, string>>
): Effect.Effect<GgufWriter.Written, Errors.GgufError> =>
  Reader.save(path, { readers, metadata, parts: { [headPart]: Float32Array.from(head) } }, "F16")

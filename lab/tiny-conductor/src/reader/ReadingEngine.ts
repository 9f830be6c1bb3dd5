/**
 * The head of a reading Conductor as a trainer engine. GRPO changes only its choices.
 *
 * Each choice is a token. Each byte of the surrounding text is also a token, with probability 1. The readers are not
 * changed.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as v8 from "node:v8"
import { Seed } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import { ReadingText } from "@divisi/policy-tiny"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { AdamW, LossTerms } from "@divisi/trainer"
import {
  type Datum,
  type Engine,
  EngineError,
  type EngineErrorReason,
  type Loss,
  type Sample,
  type SampleRequest,
  type Tokenizer
} from "@divisi/trainer/Engine"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import * as Effect from "effect/Effect"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An engine whose weights are those of a head. */
export interface ReadingEngine extends Engine {
  /** The present weights, as a copy. */
  readonly head: () => ChoiceHead.Weights
  /** Adds to the gradient that the next step goes up along, besides what is learned from completions. */
  readonly teach: (add: (sums: ChoiceHead.Weights, head: ChoiceHead.Weights) => void) => Effect.Effect<void>
}

/** The saved state. */
interface State {
  readonly version: number
  readonly weights: ChoiceHead.Weights
  readonly first: ChoiceHead.Weights
  readonly second: ChoiceHead.Weights
}

/** A prompt that has been read. */
interface Read {
  readonly asked: ReadingText.Asked
  readonly situations: ReadonlyArray<ReadingText.Situation>
}

/** Workers of one team, at most, and tokens of a prompt and a completion. */
const [mostWorkers, contextTokens] = [64, 65_536]

const name = "reading"

/** The weight of prices in training: about as large as in the reward of whole runs. */
const priceWeight = 0.15

// -------------------------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------------------------

const pieces = ReadingText.pieces(mostWorkers)
const tokenizer: Tokenizer = ToyEngine.tokenizer(pieces)
const { decode, encode, endToken } = tokenizer
/** Bytes, the end, and pieces. */
const vocabulary = endToken + 1 + pieces.length

/** The messages that a prompt was rendered of. */
const messagesOf = (prompt: ReadonlyArray<number>): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (let from = 0; from < prompt.length; ) {
    const to = prompt.indexOf(endToken, from)
    const end = to < 0 ? prompt.length : to
    const [, role, content] = /^(system|user): (.*)$/s.exec(decode(prompt.slice(from, end))) ?? []
    if (role === "system" || role === "user") messages.push({ role, content: content! })
    from = end + 1
  }
  return messages
}

// -------------------------------------------------------------------------------------------------------------------
// Places of a completion
// -------------------------------------------------------------------------------------------------------------------

/** A position where the next token is one of several, with their log-probabilities by token. */
interface Choosing {
  readonly tokens: ReadonlyArray<number>
  readonly piece: Extract<ReadingText.Piece, { readonly type: "choice" }>
}

/** A position of a completion: the only possible token, or several. */
type Place = number | Choosing

/** The positions of a completion in order. After each one, the generator receives the token at that position. */
function* places(head: ChoiceHead.Weights, { asked, situations }: Read): Generator<Place, void, number> {
  const text = ReadingText.write(head, asked, situations)
  for (let next = text.next(0); next.done !== true; ) {
    const piece = next.value
    if (piece.type === "forced") {
      for (const token of encode(piece.text)) yield token
      next = text.next(0)
    } else {
      const tokens = piece.texts.map((one) => encode(one)[0]!)
      next = text.next(tokens.indexOf(yield { tokens, piece }))
    }
  }
  yield endToken
}

/** What is known of a token at a position. */
interface Standing {
  readonly logProb: number
  readonly entropy: number
  /** Adds the gradient by the log-probability and by the entropy, times these. */
  readonly learn?: ((sums: ChoiceHead.Weights, slope: number, entropySlope: number) => void) | undefined
}

/** An impossible token has a lower log-probability than any other. */
const impossible: Standing = { logProb: -1e9, entropy: 0 }
const forced: Standing = { logProb: 0, entropy: 0 }

const standingAt = (place: Place, token: number): Standing => {
  if (typeof place === "number") return place === token ? forced : impossible
  const { piece, tokens } = place
  const chosen = tokens.indexOf(token)
  if (chosen < 0) return impossible
  const shares = piece.logProbs.map(Math.exp)
  const entropy = -piece.logProbs.reduce((sum, one, at) => sum + (shares[at] === 0 ? 0 : shares[at]! * one), 0)
  return {
    logProb: piece.logProbs[chosen]!,
    entropy,
    learn: (sums, slope, entropySlope) => {
      const one = shares.map((_, at) => (at === chosen ? 1 : 0))
      if (slope !== 0) piece.addGradient(sums, one, slope)
      if (entropySlope === 0) return
      // The gradient of the entropy by each score, expressed as target shares that replace the current ones.
      const wanted = shares.map((share, at) => (share === 0 ? 0 : share - share * (piece.logProbs[at]! + entropy)))
      piece.addGradient(sums, wanted, entropySlope)
    }
  }
}

/** What is known of each token of a completion. After an impossible token, all tokens are impossible. */
const standings = (
  head: ChoiceHead.Weights,
  read: Read,
  completion: ReadonlyArray<number>
): ReadonlyArray<Standing> => {
  const walk = places(head, read)
  let next = walk.next(0)
  let isLost = false
  return completion.map((token) => {
    const standing = isLost || next.done === true ? impossible : standingAt(next.value, token)
    isLost ||= standing === impossible
    if (!isLost) next = walk.next(token)
    return standing
  })
}

/** A sampled completion. */
const sampled = (head: ChoiceHead.Weights, read: Read, maxTokens: number, seed: number): Sample => {
  const draw = Seed.draw(seed)
  const walk = places(head, read)
  const tokens: Array<number> = []
  const logProbs: Array<number> = []
  for (let next = walk.next(0); next.done !== true && tokens.length < maxTokens; ) {
    const place = next.value
    const token = typeof place === "number" ? place : place.tokens[ReadingPolicy.byLot(place.piece.logProbs, 1, draw)]!
    tokens.push(token)
    logProbs.push(standingAt(place, token).logProb)
    next = walk.next(token)
  }
  return { tokens, logProbs, reason: tokens.at(-1) === endToken ? "stop" : "length" }
}

// -------------------------------------------------------------------------------------------------------------------
// The engine
// -------------------------------------------------------------------------------------------------------------------

const fail = (doing: EngineError["doing"], reason: EngineErrorReason) =>
  Effect.fail(new EngineError({ engine: name, doing, reason }))

const invalid = (doing: EngineError["doing"], detail: string) => fail(doing, { _tag: "InvalidRequest", detail })

const failed = (doing: EngineError["doing"]) => (error: unknown) =>
  new EngineError({ engine: name, doing, reason: { _tag: "Failed", detail: `${error}` } })

/** Reads prompts, each array once. */
const reading = ({ readers }: ReadingPolicy.Model) => {
  const situations = ReadingPolicy.read(readers, priceWeight)
  const known = new WeakMap<ReadonlyArray<number>, Read>()
  return (doing: EngineError["doing"], prompt: ReadonlyArray<number>): Effect.Effect<Read, EngineError> => {
    const found = known.get(prompt)
    if (found !== undefined) return Effect.succeed(found)
    const asked = ReadingText.asked(messagesOf(prompt))
    if (asked === undefined) return invalid(doing, "a prompt is none of ReadingText")
    const { length } = asked.workers
    if (length > mostWorkers) return invalid(doing, `a team has ${length} workers: give it at most ${mostWorkers}`)
    const read = { asked, situations: situations(asked.question, asked) }
    known.set(prompt, read)
    return Effect.succeed(read)
  }
}

const tooLong = (doing: EngineError["doing"], needed: number) =>
  needed > contextTokens
    ? fail(doing, { _tag: "TooLarge", detail: `${needed} tokens do not fit into a context of ${contextTokens}` })
    : Effect.void

/** Makes an engine from a model. The readers of the model are not changed. */
export const make = (model: ReadingPolicy.Model): ReadingEngine => {
  const fresh = () => new Float64Array(ChoiceHead.size)
  let state: State = { version: 0, weights: model.head.slice(), first: fresh(), second: fresh() }
  /** Upwards, until the next step. */
  let sums = fresh()
  const readOf = reading(model)

  const sample = Effect.fnUntraced(function* (
    head: ChoiceHead.Weights,
    { count = 1, maxTokens, prompt, seed }: SampleRequest
  ) {
    if (maxTokens < 1) return yield* invalid("sample", `maxTokens must be at least 1, not ${maxTokens}`)
    yield* tooLong("sample", prompt.length + maxTokens)
    const read = yield* readOf("sample", prompt)
    return Array.from({ length: count }, (_, index) => sampled(head, read, maxTokens, seed + index))
  })

  const pass = Effect.fnUntraced(function* (
    doing: "forward" | "forwardBackward",
    data: ReadonlyArray<Datum>,
    loss: Loss | undefined
  ) {
    const reads: Array<Read> = []
    for (const datum of data) {
      const detail = LossTerms.flaw(datum, loss, vocabulary)
      if (detail !== undefined) return yield* invalid(doing, detail)
      yield* tooLong(doing, datum.prompt.length + datum.completion.length)
      reads.push(yield* readOf(doing, datum.prompt))
    }
    let total = 0
    const passed = data.map((datum, index) => {
      const found = standings(state.weights, reads[index]!, datum.completion)
      const [logProbs, entropies] = [found.map(({ logProb }) => logProb), found.map(({ entropy }) => entropy)]
      if (loss === undefined) return { logProbs, entropies }
      const terms = LossTerms.of(loss, datum, logProbs, entropies)
      total += terms.loss
      for (const [token, { learn }] of found.entries()) {
        learn?.(sums, -terms.slopes_T[token]!, -terms.entropySlopes_T[token]!)
      }
      return { logProbs, entropies }
    })
    return {
      logProbs: passed.map(({ logProbs }) => logProbs),
      entropies: passed.map(({ entropies }) => entropies),
      loss: loss && total
    }
  })

  return {
    name,
    model: "a head of choices",
    capabilities: {
      losses: ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"],
      entropy: true,
      deterministic: true,
      contextTokens,
      exports: ["gguf"]
    },
    tokenizer,
    sampler: Effect.sync(() => {
      const { version, weights } = state
      const head = weights.slice()
      return { version, sample: (request) => sample(head, request) }
    }),
    forward: (data) => pass("forward", data, undefined),
    forwardBackward: (data, loss) => pass("forwardBackward", data, loss),
    step: (settings) =>
      Effect.sync(() => {
        const version = state.version + 1
        const gradient = sums.map((value) => -value)
        const done = AdamW.update([{ ...state, gradient }], version, settings)
        state = { ...state, version }
        sums = fresh()
        return { ...done, version }
      }),
    save: (label, folder) => {
      const reference = `${label}.bin`
      return Effect.tryPromise({
        try: () => fs.writeFile(path.join(folder, reference), v8.serialize(state), { mode: 0o600 }),
        catch: failed("save")
      }).pipe(Effect.as({ reference, version: state.version }))
    },
    load: ({ reference }, folder) =>
      Effect.tryPromise({
        try: () => fs.readFile(path.join(folder, reference)),
        catch: (error) => {
          const detail = `${reference} cannot be read (${error}); load another checkpoint`
          return new EngineError({ engine: name, doing: "load", reason: { _tag: "Expired", detail } })
        }
      }).pipe(
        Effect.flatMap((bytes) =>
          Effect.sync(() => {
            state = v8.deserialize(bytes)
            sums = fresh()
          })
        )
      ),
    export: (format, file, about = {}) =>
      format === "gguf"
        ? Effect.asVoid(
            Effect.mapError(
              Effect.suspend(() => ReadingPolicy.save(file, { ...model, head: state.weights }, about)),
              failed("export")
            )
          )
        : invalid("export", `there is no ${format} of it: export a gguf`),
    head: () => state.weights.slice(),
    teach: (add) => Effect.sync(() => add(sums, state.weights))
  }
}

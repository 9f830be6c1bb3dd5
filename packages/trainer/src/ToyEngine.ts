/**
 * Toy engine: a softmax over a table of logits, small enough to verify by hand and fast enough for unit tests.
 *
 * The logits of a token are the sum of two rows: one indexed by the last few tokens, and one indexed by these together
 * with the entire prompt. The first learns the format of completions, the second the answer to a prompt. Gradients are
 * exact, sums use double precision, and all results are deterministic. The toy engine passes the engine contract tests
 * (`@divisi/testkit/engines`). It plays the same role for engines as `ScriptedWorker` does for workers.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as v8 from "node:v8"
import { Options as Tables } from "@divisi/core"
import { type Message, plain } from "@divisi/core/Message"
import * as Effect from "effect/Effect"
import {
  type Datum,
  type Engine,
  EngineError,
  type EngineErrorReason,
  type Loss,
  type Pass,
  type Sample,
  type SampleRequest,
  type Sampler,
  type Tokenizer
} from "./Engine.ts"
import * as ToyModel from "./internal/toyModel.ts"
import * as LossTerms from "./LossTerms.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link make}. */
export interface Options {
  /**
   * Strings that are encoded as one token each. All other text is encoded as single bytes. The longest match is used.
   */
  readonly pieces?: ReadonlyArray<string> | undefined
  /** Number of preceding tokens that determine the next token. Default: 4. */
  readonly order?: number | undefined
  /**
   * Maximum length of a prompt plus its completion, in tokens. Default: 16,384 (large, because most tokens are single
   * bytes).
   */
  readonly contextTokens?: number | undefined
  /** Standard deviation of the initial logits. Default: 0 (all tokens are equally likely). */
  readonly noise?: number | undefined
  /** Seed for the initial logits. Default: 0. */
  readonly seed?: number | undefined
  readonly name?: string | undefined
}

const table = {
  pieces: Tables.listOf(Tables.name),
  order: Tables.whole(0),
  contextTokens: Tables.whole(1),
  noise: Tables.number(0),
  seed: Tables.whole(0),
  name: Tables.name
} satisfies Tables.ShapeOf<Options>

/** Format of a saved engine state. */
interface State {
  readonly version: 1
  readonly step: number
  readonly rows: ReadonlyArray<readonly [key: string, logits: Float64Array, first: Float64Array, second: Float64Array]>
}

// -------------------------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------------------------

/** Token ids 0 to 255 are bytes, 256 ends a turn, and higher ids are pieces. */
const endToken = 256

/**
 * Creates a tokenizer for bytes and the given pieces.
 *
 * **Example**
 *
 * ```ts
 * import * as ToyEngine from "@divisi/trainer/ToyEngine"
 *
 * const tokenizer = ToyEngine.tokenizer(["model_id = "])
 * tokenizer.encode("model_id = [") // => [257, 91]
 * tokenizer.decode([257, 91]) // => "model_id = ["
 * ```
 */
export const tokenizer = (pieces: ReadonlyArray<string> = []): Tokenizer => {
  const longestFirst = pieces.map((piece, index) => ({ piece, token: endToken + 1 + index }))
  longestFirst.sort((left, right) => right.piece.length - left.piece.length)
  const encoder = new TextEncoder()
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const parts = [...bytes, new Uint8Array(), ...pieces.map((piece) => encoder.encode(piece))]

  const encode = (text: string): ReadonlyArray<number> => {
    const tokens: Array<number> = []
    for (let offset = 0; offset < text.length; ) {
      const found = longestFirst.find(({ piece }) => piece !== "" && text.startsWith(piece, offset))
      const character = String.fromCodePoint(text.codePointAt(offset)!)
      if (found === undefined) tokens.push(...encoder.encode(character))
      else tokens.push(found.token)
      offset += found?.piece.length ?? character.length
    }
    return tokens
  }

  return {
    endToken,
    encode,
    decode: (tokens) =>
      new TextDecoder().decode(Buffer.concat(tokens.map((token) => parts[token] ?? parts[endToken]!))),
    render: (messages: ReadonlyArray<Message>) =>
      messages.map(plain).flatMap(({ content, role }) => [...encode(`${role}: ${content}`), endToken])
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Passes
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a training engine for tests and first trials: a small lookup table in memory instead of a language model.
 *
 * **Example**
 *
 * ```ts
 * import * as ToyEngine from "@divisi/trainer/ToyEngine"
 * import * as Effect from "effect/Effect"
 *
 * const engine = ToyEngine.make({ pieces: ["yes", "no"] })
 * const prompt = engine.tokenizer.render([{ role: "user", content: "Is 7 prime?" }])
 * const data = [{ prompt, completion: [...engine.tokenizer.encode("yes"), engine.tokenizer.endToken] }]
 * const learn = Effect.andThen(
 *   engine.forwardBackward(data, { type: "crossEntropy" }),
 *   engine.step({ learningRate: 0.5 })
 * )
 * for (let step = 0; step < 20; step++) await Effect.runPromise(learn)
 * const [sample] = await Effect.runPromise(
 *   Effect.scoped(Effect.flatMap(engine.sampler, (sampler) => sampler.sample({ prompt, maxTokens: 4, seed: 1 })))
 * )
 * engine.tokenizer.decode(sample?.tokens ?? []) // => "yes"
 * ```
 */
export const make = (options: Options = {}): Engine => {
  Tables.check("ToyEngine.make", options, table)
  const { contextTokens = 16_384, name = "toy", noise = 0, order = 4, pieces = [], seed = 0 } = options
  const tokens = tokenizer(pieces)
  const size = endToken + 1 + pieces.length
  const model = new ToyModel.Model({ size, endToken, order, noise, seed })

  const fail = (doing: EngineError["doing"], reason: EngineErrorReason) =>
    Effect.fail(new EngineError({ engine: name, doing, reason }))
  const invalid = (doing: EngineError["doing"], detail: string) => fail(doing, { _tag: "InvalidRequest", detail })
  const tooLarge = (doing: EngineError["doing"], needed: number) =>
    fail(doing, { _tag: "TooLarge", detail: `${needed} tokens do not fit into a context of ${contextTokens}` })

  const sample = (
    frozen: ToyModel.Model,
    request: SampleRequest
  ): Effect.Effect<ReadonlyArray<Sample>, EngineError> => {
    const { count = 1, maxTokens, prompt } = request
    if (maxTokens < 1) return invalid("sample", `maxTokens must be at least 1, not ${maxTokens}`)
    if (prompt.length + maxTokens > contextTokens) return tooLarge("sample", prompt.length + maxTokens)
    return Effect.sync(() =>
      Array.from({ length: count }, (_, index) =>
        ToyModel.sample(frozen, prompt.join(","), maxTokens, request.seed + index)
      )
    )
  }

  const pass = (
    doing: "forward" | "forwardBackward",
    data: ReadonlyArray<Datum>,
    loss: Loss | undefined
  ): Effect.Effect<Pass, EngineError> => {
    for (const datum of data) {
      const detail = LossTerms.flaw(datum, loss, size)
      if (detail !== undefined) return invalid(doing, detail)
      const needed = datum.prompt.length + datum.completion.length
      if (needed > contextTokens) return tooLarge(doing, needed)
    }
    return Effect.sync(() => {
      let total = 0
      const passed = data.map((datum) => {
        const promptKey = datum.prompt.join(",")
        const keys = datum.completion.map((_, token) => ToyModel.keysAt(promptKey, datum.completion, token, order))
        const distributions = keys.map((both) => model.distribution(both))
        const logProbs = datum.completion.map((token, index) => distributions[index]!.logProbs[token]!)
        const entropies = distributions.map(({ entropy }) => entropy)
        if (loss !== undefined) {
          const terms = LossTerms.of(loss, datum, logProbs, entropies)
          total += terms.loss
          datum.completion.forEach((token, index) => {
            const { [index]: slope = 0 } = terms.slopes_T
            model.learn(keys[index]!, token, distributions[index]!, slope, terms.entropySlopes_T[index]!)
          })
        }
        return { logProbs, entropies }
      })
      return {
        logProbs: passed.map((one) => one.logProbs),
        entropies: passed.map((one) => one.entropies),
        loss: loss && total
      }
    })
  }

  const save: Engine["save"] = (label, folder) => {
    const state: State = {
      version: 1,
      step: model.step,
      rows: [...model.table].map(([key, row]) => [key, row.logits, row.first, row.second])
    }
    const reference = `${label}.bin`
    return Effect.tryPromise({
      try: () => fs.writeFile(path.join(folder, reference), v8.serialize(state), { mode: 0o600 }),
      catch: (error) => new EngineError({ engine: name, doing: "save", reason: { _tag: "Failed", detail: `${error}` } })
    }).pipe(Effect.as({ reference, version: model.step }))
  }

  const load: Engine["load"] = (saved, folder) =>
    Effect.tryPromise({
      try: async () => v8.deserialize(await fs.readFile(path.join(folder, saved.reference))) as State,
      catch: (error) =>
        new EngineError({
          engine: name,
          doing: "load",
          reason: { _tag: "Expired", detail: `${saved.reference} cannot be read (${error}); load another checkpoint` }
        })
    }).pipe(
      Effect.flatMap((state) =>
        Effect.sync(() => {
          model.step = state.step
          model.table = new Map(
            state.rows.map(([key, logits, first, second]) => [
              key,
              {
                logits: Float64Array.from(logits),
                first: Float64Array.from(first),
                second: Float64Array.from(second),
                gradient: undefined
              }
            ])
          )
        })
      )
    )

  return {
    name,
    model: `lookup table (${order} tokens of context)`,
    capabilities: {
      losses: ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"],
      entropy: true,
      deterministic: true,
      contextTokens,
      exports: []
    },
    tokenizer: tokens,
    sampler: Effect.sync((): Sampler => {
      const frozen = model.frozen()
      return { version: frozen.step, sample: (request) => sample(frozen, request) }
    }),
    forward: (data) => Effect.suspend(() => pass("forward", data, undefined)),
    forwardBackward: (data, loss) => Effect.suspend(() => pass("forwardBackward", data, loss)),
    step: (settings) => Effect.sync(() => ({ ...ToyModel.adamW(model, settings), version: model.step })),
    save,
    load,
    export: (format) => invalid("export", `a table cannot be exported as ${format}; use a transformer engine`)
  }
}

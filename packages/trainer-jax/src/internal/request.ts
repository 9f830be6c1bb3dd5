/** Validates requests before anything is computed. */
import { Options } from "@divisi/core"
import { Model } from "@divisi/gguf"
import type { Datum, EngineError, Loss } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Existing, New, Settings } from "../JaxEngine.ts"
import * as Problem from "./problem.ts"

const settings = {
  render: Options.aFunction,
  name: Options.name,
  threads: Options.whole(1, 1024),
  sampling: Options.oneOf("embedded", "llamacpp"),
  sequences: Options.whole(1, 2 ** 16),
  memoryBytes: Options.whole(1, 3e9),
  completionsPerPass: Options.whole(1, 2 ** 20)
} satisfies Options.ShapeOf<Settings>

const size = Options.whole(1, 2 ** 31)

/** Validation table for a model's dimensions. */
const config = Options.table(
  {
    architecture: Options.name,
    vocabularySize: size,
    hiddenSize: size,
    layers: size,
    heads: size,
    keyValueHeads: size,
    headSize: size,
    feedForwardSize: size,
    contextLength: size,
    normEpsilon: Options.number(Number.MIN_VALUE, 1),
    ropeTheta: Options.number(1),
    tiedEmbeddings: Options.flag
  } satisfies Options.ShapeOf<Model.Config>,
  {
    required: ["architecture", "vocabularySize", "hiddenSize", "layers", "heads", "feedForwardSize", "contextLength"]
  }
)

const fresh = Options.table(
  {
    ...settings,
    config,
    tokenizer: Options.anObject,
    seed: Options.whole(0),
    tensors: Options.anObject
  } satisfies Options.ShapeOf<New & Settings>,
  { required: ["config", "tokenizer"] }
)

const excluded = ["config", "tokenizer", "tensors", "seed"]

const existing = Options.table(
  { ...fresh.shape, from: Options.name },
  { required: ["from"], rules: excluded.map((option) => Options.excludes("from", option)) }
)

/** Fails if the options are invalid for an engine. */
export const checkOptions = (options: Settings & (New | Existing)): Effect.Effect<void, EngineError> => {
  const isExisting = typeof options === "object" && options !== null && "from" in options
  return Effect.mapError(Options.checked("JaxEngine.make", options, isExisting ? existing : fresh), ({ message }) =>
    Problem.make("open", message)
  )
}

/** Fails if the model cannot be trained. */
export const checkModel = (model: Model.Model): Effect.Effect<void, EngineError> => {
  const { architecture } = model.config
  if (architecture !== "llama") return Problem.failed("open", `it trains the llama architecture, not ${architecture}.`)
  const checked = Model.check(model)
  return Result.isFailure(checked) ? Problem.failed("open", checked.failure.message) : Effect.void
}

const problemOf = (config: Model.Config, { advantages, completion, logProbs, prompt, weights }: Datum) => {
  const { vocabularySize } = config
  if (prompt.length === 0) return "its prompt has no tokens."
  if (completion.length === 0) return "its completion has no tokens."
  const isToken = (token: number) => Number.isInteger(token) && token >= 0 && token < vocabularySize
  const stranger = [...prompt, ...completion].find((token) => !isToken(token))
  if (stranger !== undefined) return `${stranger} is not a token in a vocabulary of ${vocabularySize}.`
  const uneven = Object.entries({ weights, advantages, logProbs }).find(
    ([, values]) => values !== undefined && values.length !== completion.length
  )
  if (uneven === undefined) return undefined
  return `it has ${uneven[1]?.length} ${uneven[0]} for ${completion.length} tokens.`
}

/** Fails if the data cannot be computed. */
export const checkData = (
  config: Model.Config,
  doing: "forward" | "forwardBackward",
  data: ReadonlyArray<Datum>
): Effect.Effect<void, EngineError> => {
  for (const [place, datum] of data.entries()) {
    const problem = problemOf(config, datum)
    if (problem !== undefined) return Problem.failed(doing, `datum ${place}: ${problem}`)
    const length = datum.prompt.length + datum.completion.length
    if (length > config.contextLength) {
      const detail = `datum ${place}: its ${length} tokens do not fit into a context of ${config.contextLength}.`
      return Problem.failed(doing, detail, "TooLarge")
    }
  }
  return Effect.void
}

/** Fails if the data lack inputs that a loss requires. */
export const checkLoss = (loss: Loss, data: ReadonlyArray<Datum>): Effect.Effect<void, EngineError> => {
  if (loss.type === "crossEntropy") return Effect.void
  for (const [place, { advantages, logProbs }] of data.entries()) {
    const missing = advantages === undefined ? "advantages" : logProbs === undefined ? "logProbs" : undefined
    if (missing === undefined) continue
    return Problem.failed("forwardBackward", `datum ${place} has no ${missing}, which ${loss.type} needs.`)
  }
  return Effect.void
}

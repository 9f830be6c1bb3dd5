/** Whether requests make sense, before anything is computed. */
import { Model } from "@divisi/gguf"
import type { Datum, EngineError, Loss } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Settings } from "../JaxEngine.ts"
import * as Problem from "./problem.ts"

/** Whether an engine can be made of options. */
export const checkSettings = (options: Settings): Effect.Effect<void, EngineError> => {
  const { completionsPerPass = 1, memoryBytes = 1e9, sequences = 1, threads = 1 } = options
  const wrong = Object.entries({ completionsPerPass, sequences, threads }).find(
    ([, value]) => !(Number.isSafeInteger(value) && value >= 1)
  )
  if (wrong !== undefined) {
    return Problem.failed("open", `${wrong[0]} must be a whole number of at least 1; got ${wrong[1]}.`)
  }
  const most = 3e9
  if (memoryBytes > 0 && memoryBytes <= most) return Effect.void
  return Problem.failed("open", `memoryBytes must be above 0 and at most ${most}; got ${memoryBytes}.`)
}

/** Whether a model can be trained. */
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
  if (stranger !== undefined) return `${stranger} is no token of a vocabulary of ${vocabularySize}.`
  const uneven = Object.entries({ weights, advantages, logProbs }).find(
    ([, values]) => values !== undefined && values.length !== completion.length
  )
  if (uneven === undefined) return undefined
  return `it has ${uneven[1]?.length} ${uneven[0]} for ${completion.length} tokens.`
}

/** Whether data can be computed. */
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

/** Whether data have what a loss needs. */
export const checkLoss = (loss: Loss, data: ReadonlyArray<Datum>): Effect.Effect<void, EngineError> => {
  if (loss.type === "crossEntropy") return Effect.void
  for (const [place, { advantages, logProbs }] of data.entries()) {
    const missing = advantages === undefined ? "advantages" : logProbs === undefined ? "logProbs" : undefined
    if (missing === undefined) continue
    return Problem.failed("forwardBackward", `datum ${place} has no ${missing}, which ${loss.type} needs.`)
  }
  return Effect.void
}

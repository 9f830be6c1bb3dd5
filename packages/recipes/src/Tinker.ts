/** Creates an engine for the Tinker API, configured by environment variables. */

import type { Estimate } from "@divisi/trainer"
import type { EngineError, Tokenizer } from "@divisi/trainer/Engine"
import * as HuggingFaceTokenizer from "@divisi/trainer-tinker/HuggingFaceTokenizer"
import * as TinkerEngine from "@divisi/trainer-tinker/TinkerEngine"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Environment from "./Environment.ts"
import { numbers, SettingError } from "./Settings.ts"

const servers = ["hosted", "skyrl-jax", "skyrl-fsdp"] as const

/** The Tinker settings present in the environment. */
export const settings: Effect.Effect<Environment.Environment> = Environment.read([
  "TINKER_API_KEY",
  "TINKER_BASE_GGUF",
  "TINKER_BASE_URL",
  "TINKER_PRICES",
  "TINKER_SERVER",
  "TINKER_SPEED",
  "TINKER_TOKENIZER"
])

const dialectOf = ({ TINKER_SERVER: name }: Environment.Environment) => {
  const found = servers.find((server) => server === name)
  if (found !== undefined || name === undefined || name === "") return found
  throw new SettingError(`TINKER_SERVER is "${name}"; expected one of ${servers.join(", ")}, or leave it unset.`)
}

/** Returns the base model's tokenizer: from the folder in `TINKER_TOKENIZER`, otherwise from Hugging Face. */
export const tokenizer = (baseModel: string) =>
  Effect.flatMap(settings, ({ TINKER_TOKENIZER: folder }) =>
    HuggingFaceTokenizer.load(folder === undefined ? { model: baseModel } : { folder })
  )

/**
 * Opens an engine with the key in `TINKER_API_KEY`. Connects to `TINKER_BASE_URL` or, by default, to the hosted
 * service.
 */
export const open = (
  baseModel: string,
  tokenizer: Tokenizer
): Effect.Effect<TinkerEngine.TinkerEngine, EngineError, Scope.Scope> =>
  Effect.gen(function* () {
    const environment = yield* settings
    const { TINKER_API_KEY: key, TINKER_BASE_GGUF: baseGguf, TINKER_BASE_URL: baseUrl } = environment
    const { pricing } = rates(environment)
    const made = yield* TinkerEngine.make({
      baseModel,
      tokenizer,
      baseUrl,
      apiKey: key === undefined ? undefined : Redacted.make(key),
      dialect: dialectOf(environment),
      baseGguf,
      onNotice: (notice) => void process.stderr.write(`note: ${notice}\n`)
    })
    return pricing === undefined ? made : { ...made, pricing }
  })

/** Parses the server's prices in USD per million tokens: `TINKER_PRICES=prefill,sample,train`. */
const pricing = (prices: string): Estimate.EngineRates => {
  const [prefillPerMillion, samplePerMillion, trainPerMillion] = numbers(prices, 3) ?? []
  if (prefillPerMillion === undefined || samplePerMillion === undefined || trainPerMillion === undefined) {
    throw new SettingError(
      `TINKER_PRICES is "${prices}"; expected three prices in USD per million tokens: 0.1,0.3,0.4.`
    )
  }
  return { pricing: { prefillPerMillion, samplePerMillion, trainPerMillion, source: "TINKER_PRICES" } }
}

/** Parses the server's speed in tokens per second, summed over all requests: `TINKER_SPEED=sampled,learned`. */
const speed = (text: string): Estimate.EngineRates => {
  const [sampled = 0, learned = 0] = numbers(text, 2) ?? []
  if (sampled > 0 && learned > 0) {
    return { speed: { secondsPerSampledToken: 1 / sampled, secondsPerTrainedToken: 1 / learned } }
  }
  throw new SettingError(
    `TINKER_SPEED is "${text}"; expected the numbers of tokens sampled and trained per second: 2000,8000.`
  )
}

/**
 * Returns the server's prices and speed, if they are set in the environment.
 *
 * @internal
 */
export const rates = ({ TINKER_PRICES, TINKER_SPEED }: Environment.Environment): Estimate.EngineRates => ({
  ...(TINKER_PRICES ? pricing(TINKER_PRICES) : {}),
  ...(TINKER_SPEED ? speed(TINKER_SPEED) : {})
})

/**
 * Any `LanguageModel` of Effect (`effect/ai`) as a worker: Effect's providers, and models that are made by hand.
 *
 * A `LanguageModel` does not know its name, prices and settings, so give them here. A request with a setting that no
 * adapter passes on fails; no setting is dropped silently.
 */

import type { Pricing } from "@divisi/core/Usage"
import {
  type Limits,
  type Worker,
  WorkerError,
  type WorkerPart,
  type WorkerRequest,
  withDefaults
} from "@divisi/core/Worker"
import * as VendorStream from "@divisi/provider-kit/VendorStream"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { reasonOf } from "./internal/errors.ts"
import * as Parts from "./internal/parts.ts"
import { messageOf, settingsOf } from "./internal/request.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The settings of a request. */
export type Settings = Omit<WorkerRequest, "messages" | "format">

/** The stream of a model's answer. */
export type Answer = Stream.Stream<Response.StreamPart<Record<never, never>>, AiError.AiError>

/** Passes settings on to a model. */
export interface SettingsAdapter {
  /** The settings that `apply` knows; a request that sets another one fails. Without `seed` runs ask without one. */
  readonly names: ReadonlyArray<keyof Settings>
  /** Runs an answer with settings, e.g. by providing the configuration of the model's package to it. */
  readonly apply: (settings: Settings, answer: Answer) => Answer
}

/** What a `LanguageModel` does not know about itself, and the worker's defaults. */
export interface Options extends Pick<Settings, "maxOutputTokens" | "temperature" | "reasoning"> {
  readonly id: string
  readonly description?: string | undefined
  /** The key under which rate limits are shared; the id when absent. */
  readonly provider?: string | undefined
  /** Unknown when absent, which does not mean free. */
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /** Passes settings on to the model; without it, a request that sets any fails. */
  readonly settings?: SettingsAdapter | undefined
  /** The longest silence in milliseconds, before and within an answer; no limit by default. */
  readonly timeoutMillis?: number | undefined
  /** Texts that no error may show, such as the API key. Anything that looks like a key is hidden, too. */
  readonly secrets?: ReadonlyArray<string | Redacted.Redacted> | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * A worker from a given `LanguageModel`.
 *
 * **Gotchas**
 *
 * The model sends the request itself. Effect's `FetchHttpClient` follows redirects by default: its headers and the
 * question then go to another server, with a key in any header but `authorization`. Give it
 * `fetchWithoutRedirects()` of `@divisi/provider-kit/Endpoint` as `FetchHttpClient.Fetch`.
 *
 * **Example**
 *
 * ```ts
 * import * as Baselines from "@divisi/core/Baselines"
 * import { conduct } from "@divisi/core/promise"
 * import { fromLanguageModel } from "@divisi/providers-effect"
 * import * as LanguageModel from "effect/ai/LanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const usage = { inputTokens: { total: 7 }, outputTokens: { total: 1 } }
 * const model = Effect.runSync(
 *   LanguageModel.make({
 *     generateText: () => Effect.succeed([{ type: "text", text: "42" }]),
 *     streamText: () =>
 *       Stream.make({ type: "text-delta", id: "1", delta: "42" }, { type: "finish", reason: "stop", usage })
 *   })
 * )
 * const { answer } = await conduct({
 *   question: "What is 6 times 7?",
 *   pool: [fromLanguageModel(model, { id: "calculator" })],
 *   policy: Baselines.single(0)
 * })
 * answer // => "42"
 * ```
 */
export const fromLanguageModel = (model: LanguageModel.LanguageModel, options: Options): Worker => {
  const { description, id, limits, pricing, provider } = options
  const secrets = (options.secrets ?? []).map((secret) =>
    Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
  )
  const { maxOutputTokens, reasoning, temperature } = options
  const defaults: Settings = {
    maxOutputTokens,
    temperature,
    reasoning
  }
  return {
    id,
    description,
    provider,
    pricing,
    limits,
    maxOutputTokens,
    isLanguageModel: true,
    takesSeed: options.settings?.names.includes("seed") === true,
    settings: defaults,
    generate: (request) =>
      VendorStream.limitSilence(
        id,
        options.timeoutMillis,
        call(model, options, secrets, withDefaults(request, defaults))
      )
  }
}

/**
 * A worker from the `LanguageModel` in the context, e.g. of a provider's layer.
 *
 * **Example**
 *
 * ```ts
 * import { ConductorLanguageModel, LanguageModelWorker } from "@divisi/providers-effect"
 * import * as Baselines from "@divisi/core/Baselines"
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * // Any layer of a LanguageModel will do; this one is a team.
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const team = ConductorLanguageModel.layer().pipe(Layer.provide(Conductor.layer({ policy: Baselines.single(0), pool })))
 *
 * const worker = LanguageModelWorker.make({ id: "team" }).pipe(Effect.provide(team), Effect.runSync)
 * worker.id // => "team"
 * ```
 */
export const make = (options: Options): Effect.Effect<Worker, never, LanguageModel.LanguageModel> =>
  Effect.map(LanguageModel.LanguageModel, (model) => fromLanguageModel(model, options))

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** One part. A model that is made by hand may give anything. */
const read: typeof Parts.next = (state, part, messages) => {
  try {
    return Parts.next(state, part, messages)
  } catch (error) {
    return Result.fail(error)
  }
}

const call = (
  model: LanguageModel.LanguageModel,
  { id: worker, settings: passing }: Options,
  secrets: ReadonlyArray<string>,
  request: WorkerRequest
): Stream.Stream<WorkerPart, WorkerError> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const fail = (error: unknown) =>
      new WorkerError({ worker, reason: reasonOf(error, { secrets, nowMillis: clock.currentTimeMillisUnsafe() }) })
    const settings = settingsOf(request)
    const lost = Object.keys(settings).find((name) => passing?.names.includes(name as keyof Settings) !== true)
    if (lost !== undefined) {
      const detail = `${lost}: nobody said how to pass it to this LanguageModel; name it in "settings"`
      return yield* new WorkerError({ worker, reason: { _tag: "InvalidRequest", detail } })
    }
    const plain: Answer = model.streamText({ prompt: request.messages.map(messageOf) })
    const answer = passing === undefined ? plain : passing.apply(settings, plain)
    return answer.pipe(
      // A model that dies of its vendor's events must not end the run.
      Stream.catchDefect((defect) => Stream.fail(defect)),
      Stream.mapError(fail),
      Stream.concat(Stream.succeed(Parts.end)),
      Stream.mapAccumEffect(
        () => Parts.start,
        (state, part) => Effect.mapError(Effect.fromResult(read(state, part, request.messages)), fail)
      )
    )
  }).pipe(Stream.unwrap)

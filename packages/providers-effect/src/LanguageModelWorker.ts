/**
 * Creates workers from any Effect `LanguageModel` (`effect/ai`), including Effect's providers and custom models.
 *
 * A `LanguageModel` does not expose its name, prices and settings, so they are passed as options. A request with a
 * setting that the adapter does not support fails; no setting is dropped silently.
 */

import { Options as Tables } from "@divisi/core"
import { type Pricing, pricingShape } from "@divisi/core/Usage"
import {
  type Capabilities,
  capabilitiesShape,
  type Limits,
  limitsShape,
  reasoningTable,
  type Worker,
  WorkerError,
  type WorkerPart,
  type WorkerRequest,
  withDefaults
} from "@divisi/core/Worker"
import { Dialects, ModelTurn, VendorStream } from "@divisi/provider-kit"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { reasonOf } from "./internal/errors.ts"
import * as Parts from "./internal/parts.ts"
import * as Request from "./internal/request.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The settings of a request, without those that a `LanguageModel` accepts itself: messages, tools and tool choice.
 * Model defaults are excluded too: `parallelToolCalls` is `false` if present, and `output` is never text.
 */
export type Settings = Request.Settings

/** The stream for a model's answer. */
export type Answer = Stream.Stream<Parts.Part, AiError.AiError>

/** Passes settings to a model. */
export interface SettingsAdapter {
  /**
   * The settings supported by `apply`. A request with any other setting fails. Without `seed`, requests have no seed;
   * without `output`, the schema is sent as an instruction.
   */
  readonly names: ReadonlyArray<keyof Settings>
  /** Applies settings to an answer, for example by providing the configuration service of the model's package. */
  readonly apply: (settings: Settings, answer: Answer) => Answer
}

/** Model properties that a `LanguageModel` does not expose, and the worker's defaults. */
export interface Options extends Pick<Settings, "maxOutputTokens" | "temperature" | "reasoning"> {
  readonly id: string
  readonly description?: string | undefined
  /**
   * System prompt sent before all other messages, so that two workers can use the same model with different
   * instructions.
   */
  readonly instructions?: string | undefined
  /**
   * Capabilities of the model. A `LanguageModel` does not expose them: tools, images and files are sent unless they are
   * false here, and JSON Schemas if `settings` names `output`. Calls with unsupported content fail.
   */
  readonly capabilities?: Capabilities | undefined
  /** Workers with the same provider share rate limits. Default: the id. */
  readonly provider?: string | undefined
  /** The list price. If omitted, the price is unknown, not free. */
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /** Passes settings to the model. If omitted, a request with settings fails. */
  readonly settings?: SettingsAdapter | undefined
  /** Maximum time without data, before or within an answer, in milliseconds. Default: unlimited. */
  readonly timeoutMillis?: number | undefined
  /** Strings that must not appear in errors, such as the API key. Anything that looks like a key is also redacted. */
  readonly secrets?: ReadonlyArray<string | Redacted.Redacted> | undefined
}

const table = Tables.table(
  {
    id: Tables.name,
    description: Tables.text,
    instructions: Tables.text,
    capabilities: capabilitiesShape,
    provider: Tables.name,
    pricing: pricingShape,
    limits: limitsShape,
    maxOutputTokens: Tables.whole(1),
    temperature: Tables.temperature,
    reasoning: reasoningTable,
    settings: Tables.madeBy("a settings adapter", "apply"),
    timeoutMillis: Tables.number(0),
    secrets: Tables.expects("a list of strings", Array.isArray)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["id"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const passes = ({ settings }: Options, name: keyof Settings): boolean => settings?.names.includes(name) === true

/**
 * Creates a worker from a given `LanguageModel`.
 *
 * **Gotchas**
 *
 * The model sends the request itself. Effect's `FetchHttpClient` follows redirects by default, which sends the question
 * and all headers except `authorization` to another server, including a key in any other header. Provide
 * `fetchWithoutRedirects()` from `@divisi/provider-kit` as `FetchHttpClient.Fetch`.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines } from "@divisi/core"
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
  Tables.check("fromLanguageModel", options, table)
  const { description, id, instructions, limits, pricing, provider } = options
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
    takesSeed: passes(options, "seed"),
    instructions,
    capabilities: {
      tools: true,
      images: true,
      files: true,
      jsonSchema: passes(options, "output"),
      ...options.capabilities
    },
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
 * Creates a worker from the `LanguageModel` in the context, for example from a provider's layer.
 *
 * **Example**
 *
 * ```ts
 * import { ConductorLanguageModel, LanguageModelWorker } from "@divisi/providers-effect"
 * import { Baselines } from "@divisi/core"
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

const noUrl = { _tag: "InvalidRequest", detail: "the URL of an image or a file is not valid" } as const

/** Runs a request. Tool calls are returned as the model wrote them; the executor validates and runs them. */
const answerOf = (
  model: LanguageModel.LanguageModel,
  prompt: ReturnType<typeof Request.promptOf>,
  request: WorkerRequest
): Answer =>
  model.streamText({
    prompt,
    ...Request.toolsOf(request),
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  })

const call = (
  model: LanguageModel.LanguageModel,
  options: Options,
  secrets: ReadonlyArray<string>,
  request: WorkerRequest
): Stream.Stream<WorkerPart, WorkerError> =>
  Effect.gen(function* () {
    const { id: worker, settings: passing } = options
    const clock = yield* Clock.Clock
    const fail = (error: unknown) =>
      new WorkerError({ worker, reason: reasonOf(error, { secrets, nowMillis: clock.currentTimeMillisUnsafe() }) })
    const passed = Request.passedOf(request, (name) => passes(options, name))
    if ("lost" in passed) {
      const detail = `${passed.lost}: there is no mapping to this LanguageModel; add one in "settings"`
      return yield* new WorkerError({ worker, reason: { _tag: "InvalidRequest", detail } })
    }
    const reading: Parts.Reading = { model: worker, messages: request.messages }
    const prompt = yield* Effect.try({
      try: () => Request.promptOf(request.messages, worker),
      catch: () => new WorkerError({ worker, reason: noUrl })
    })
    const plain = answerOf(model, prompt, request)
    const answer = passing === undefined ? plain : passing.apply(passed.settings, plain)
    const parts = answer.pipe(
      // A defect in the model's event handling must not end the run.
      Stream.catchDefect((defect) => Stream.fail(defect)),
      Stream.mapError(fail),
      Stream.concat(Stream.succeed(Parts.end)),
      Stream.mapAccumEffect(
        () => ModelTurn.startWith(request.tools),
        // A custom model may emit any value.
        (turn, part) => Effect.try({ try: () => Parts.next(turn, part, reading), catch: fail })
      )
    )
    return Stream.concat(Stream.fromArray(Dialects.Preferences.partsOf(passed.notices)), parts)
  }).pipe(Stream.unwrap)

/**
 * The contract for providers that use the Gemini API, as one suite: the provider contract for a model of each
 * generation, and cases specific to the API.
 */
import assert from "node:assert/strict"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker, WorkerError } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as GoogleGenerateContent from "./GoogleGenerateContent.ts"
import { hello } from "./internal/subject.ts"
import * as ProviderContract from "./ProviderContract.ts"
import * as Script from "./Script.ts"
import * as WireServer from "./WireServer.ts"

/** Settings for a worker in a test. */
export interface Settings extends Omit<ProviderContract.Connection, "apiKey"> {
  readonly apiKey: string | { readonly env: string }
  readonly instructions?: string | undefined
  /** Google's built-in tools, as in the worker's settings. */
  readonly tools?: ReadonlyArray<unknown> | undefined
}

/** A provider under test. */
export interface Options extends ProviderContract.Runner {
  /** The tested provider, e.g. `google`. */
  readonly name: string
  readonly make: (model: string, settings: Settings) => Worker
  /** Returns the path of a call, relative to the base URL. */
  readonly pathOf: (model: string) => string
  /**
   * Whether the worker reads its key and base URL itself. False if the caller passes an SDK object that contains them.
   * Default: `true`.
   */
  readonly connects?: boolean | undefined
  /** Gaps in addition to those of the API. */
  readonly gaps?: ProviderContract.Gaps | undefined
  /** See `ProviderContract.contract`. */
  readonly skips?: ProviderContract.Gaps | undefined
}

const apiGaps = { "usage/cache-write": "Gemini charges nothing for writing to its cache, and does not count it" }

const parallelToolCalls = { type: "rejected", reason: "Gemini may always call several functions at once" } as const
const reasoningOff = { type: "rejected", reason: "Gemini 3 always thinks" } as const

const generations: ReadonlyArray<{
  readonly model: string
  readonly settings: ProviderContract.Expectations
  readonly gaps: ProviderContract.Gaps
}> = [
  {
    model: "gemini-2.5-flash",
    settings: { parallelToolCalls },
    gaps: { ...apiGaps, "output/json-schema-with-tools": "before Gemini 3 a request has tools or a shape" }
  },
  { model: "gemini-3.1-pro-preview", settings: { parallelToolCalls, reasoningOff }, gaps: apiGaps }
]

/** Model for the API-specific cases. */
const model = "gemini-2.5-flash"

const drain = (worker: Worker, request = hello()) =>
  Effect.runPromise(Stream.runDrain(WorkerStream.generate(worker, request)))

const failureOf = (worker: Worker): Promise<WorkerError> =>
  Effect.runPromise(Effect.flip(Stream.runDrain(WorkerStream.generate(worker, hello()))))

const serve = (scripts: WireServer.Scripts) => WireServer.start(GoogleGenerateContent.dialect, scripts)

const retryInfo = async ({ make }: Options) => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }]
  const body = JSON.stringify({ error: { code: 429, message: "Slow down", status: "RESOURCE_EXHAUSTED", details } })
  await using server = await serve([{ type: "raw", status: 429, contentType: "application/json", body }])
  const { reason } = await failureOf(make(model, { apiKey: "key", baseURL: server.url }))
  assert.deepEqual(reason, { _tag: "RateLimited", retryAfterMillis: 7000, detail: "429 Slow down" })
}

const instructed = async ({ make }: Options) => {
  const { instructions } = make(model, { apiKey: "key", baseURL: "http://127.0.0.1:9", instructions: "Be terse." })
  assert.equal(instructions, "Be terse.")
}

const ownTools = async ({ make }: Options) => {
  await using server = await serve([Script.answer("ok")])
  const worker = make(model, { apiKey: "key", baseURL: server.url, tools: [{ googleSearch: {} }] })
  await drain(worker, { ...hello(), tools: [{ name: "now", input: { type: "object" } }] })
  const { tools } = (server.exchanges[0]?.body ?? {}) as { tools?: unknown }
  assert.deepEqual(tools, [
    { functionDeclarations: [{ name: "now", parametersJsonSchema: { type: "object" } }] },
    { googleSearch: {} }
  ])
}

const tokenOfBaseUrl = async ({ make, pathOf }: Options) => {
  await using server = await serve(({ path }) => ({
    type: "raw",
    status: 404,
    contentType: "text/plain",
    body: path
  }))
  const baseURL = `${server.url}/gateway?token=hunter2-token`
  const worker = make(model, { apiKey: "key", baseURL })
  const error = await failureOf(worker)
  const path = `/gateway${pathOf(model)}`
  assert.equal(server.exchanges[0]?.path, `${path}?alt=sse&token=hunter2-token`)
  assert.ok(error.message.includes(path), "The error does not repeat the vendor's words.")
  assert.ok(!JSON.stringify([error, error.message, worker]).includes("hunter2"), "The token shows.")
}

const credentialsInBaseUrl = async ({ make }: Options) => {
  const baseURL = "http://me:hunter2@127.0.0.1"
  assert.throws(() => make(model, { apiKey: "key", baseURL }), /contains a user name or password/)
}

const namedVariable = async ({ make }: Options) => {
  const apiKey = { env: "A_VARIABLE_THAT_IS_NOT_SET" }
  const error = await failureOf(make(model, { apiKey, baseURL: "http://127.0.0.1:9" }))
  assert.ok(error.message.includes(apiKey.env), error.message)
}

interface Case {
  readonly name: string
  readonly run: (options: Options) => Promise<void>
  readonly needsConnection?: boolean
}

const cases: ReadonlyArray<Case> = [
  { name: "reads the RetryInfo of a refusal's body", run: retryInfo },
  { name: "keeps its own instructions", run: instructed },
  { name: "sends the tools of its own settings with those of a request", run: ownTools },
  { name: "sends the query of its base URL, and shows it nowhere", run: tokenOfBaseUrl, needsConnection: true },
  { name: "refuses a password in its base URL", run: credentialsInBaseUrl, needsConnection: true },
  { name: "names the variable that holds no key", run: namedVariable, needsConnection: true }
]

/**
 * Registers the suite for a provider that uses the Gemini API.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import { GeminiContract } from "@divisi/testkit/providers"
 *
 * const names: Array<string> = []
 * GeminiContract.contract({
 *   name: "scripted",
 *   make: (model) => ScriptedWorker.echo(model),
 *   pathOf: (model) => `/v1beta/models/${model}:streamGenerateContent`,
 *   describe: (_, body) => body(),
 *   it: (name) => names.push(name) // a real suite passes `it` of its test runner
 * })
 * names.length > 100 // => true
 * ```
 */
export const contract = (options: Options): void => {
  const { connects = true, describe, gaps, it, make, name, skips } = options
  for (const one of generations) {
    ProviderContract.contract({
      name: `${name}: ${one.model}`,
      dialect: GoogleGenerateContent.dialect,
      make: (connection) => make(one.model, connection),
      settings: one.settings,
      gaps: { ...one.gaps, ...gaps },
      skips,
      describe,
      it
    })
  }
  describe(`${name} keeps the contract of the Gemini API`, () => {
    for (const { name, needsConnection, run } of cases) {
      if (connects || needsConnection !== true) it(name, () => run(options))
    }
  })
}

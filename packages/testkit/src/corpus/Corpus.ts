/**
 * A corpus of quirks in real servers' protocols, stored as data, and a runner that tests any provider against it.
 *
 * Each row belongs to a vendor protocol. A provider runs the rows of its protocol over real sockets. Rows that it does
 * not support are declared as gaps with a reason, and are expected to fail.
 */
import assert from "node:assert/strict"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import type { ToolCall } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import type { Usage } from "@divisi/core/Usage"
import { type FinishReason, type Worker, WorkerError, type WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Gaps, Runner } from "../providers/ProviderContract.ts"
import { agentRequests } from "./agentRequests.ts"
import { callForms } from "./calls.ts"
import { chat } from "./chat.ts"
import { chatForms } from "./chatForms.ts"
import { clientRequests } from "./clientRequests.ts"
import { cutCalls } from "./cutCalls.ts"
import { fieldForms } from "./fieldForms.ts"
import { fieldReports } from "./fieldReports.ts"
import { gatewayReports } from "./gatewayReports.ts"
import { generateContent } from "./generateContent.ts"
import { interrupted } from "./interrupted.ts"
import { messages } from "./messages.ts"
import { type Protocol, type Reply, type RequestRow, type ResponseRow, type Row, tools } from "./Row.ts"
import { reportForms } from "./reportForms.ts"
import { requestForms } from "./requestForms.ts"
import { requests } from "./requests.ts"
import { responses } from "./responses.ts"
import { vendorForms } from "./vendorForms.ts"
import { vendorStreams } from "./vendorStreams.ts"
import { wireForms } from "./wireForms.ts"

export type { Call, Class, Needs, Outcome, Protocol, Reply, RequestRow, ResponseRow, Row, Source } from "./Row.ts"

/** All rows. */
export const rows: ReadonlyArray<Row> = [
  ...chat,
  ...chatForms,
  ...responses,
  ...messages,
  ...generateContent,
  ...callForms,
  ...wireForms,
  ...vendorForms,
  ...requests,
  ...requestForms,
  ...agentRequests,
  ...fieldForms,
  ...reportForms,
  ...fieldReports,
  ...interrupted,
  ...vendorStreams,
  ...clientRequests,
  ...gatewayReports,
  ...cutCalls
]

/** The request rows, which test servers that implement a vendor protocol. */
export const requestRows: ReadonlyArray<RequestRow> = rows.filter(
  (row): row is RequestRow => row.direction === "request"
)

/** Returns the response rows of a protocol, for its providers. */
const responsesOf = (protocol: Protocol): ReadonlyArray<ResponseRow> =>
  rows.filter((row): row is ResponseRow => row.direction === "response" && row.protocol === protocol)

// -------------------------------------------------------------------------------------------------------------------
// Serving
// -------------------------------------------------------------------------------------------------------------------

/** A local server that sends the replies of a row. */
export interface Server extends AsyncDisposable {
  /** The URL without a path, such as `http://127.0.0.1:4711`. */
  readonly url: string
  /** JSON bodies of all requests received. */
  readonly bodies: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const bodyOf = async (request: http.IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  let text = ""
  for await (const piece of request.setEncoding("utf8")) text += piece
  return text === "" ? {} : JSON.parse(text)
}

const write = async (response: http.ServerResponse, { body, contentType, headers, status }: Reply) => {
  response.writeHead(status ?? 200, { "content-type": contentType ?? "text/event-stream", ...headers })
  for (const piece of typeof body === "string" || body instanceof Uint8Array ? [body] : body) {
    await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  }
  response.end()
}

/** Serves replies in order. The last one is repeated for all further requests. */
export const serve = async (replies: readonly [Reply, ...Array<Reply>]): Promise<Server> => {
  const bodies: Array<Readonly<Record<string, unknown>>> = []
  const server = http.createServer(async (request, response) => {
    bodies.push(await bodyOf(request))
    await write(response, replies[Math.min(bodies.length, replies.length) - 1] ?? replies[0])
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Asking
// -------------------------------------------------------------------------------------------------------------------

/** The result of reading a row's answer. */
export interface Read {
  readonly text: string
  readonly reasoning: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly finish: FinishReason | undefined
  readonly notices: ReadonlyArray<string>
  readonly usage: Usage | undefined
  /** The error. Not set if the call succeeded. */
  readonly error: WorkerError | undefined
}

const joined = (parts: ReadonlyArray<WorkerPart>, type: "text" | "reasoning") =>
  parts.map((part) => (part.type === type ? part.text : "")).join("")

/** Sends a row's request to a worker and returns how the worker read the answer. */
export const ask = async (worker: Worker, { expected, request }: ResponseRow): Promise<Read> => {
  const parts: Array<WorkerPart> = []
  const asked = {
    messages: [{ role: "user" as const, content: "Weather in Ulm?" }],
    ...(expected.calls === undefined ? {} : { tools }),
    ...request
  }
  const run = Stream.runForEach(WorkerStream.generate(worker, asked), (part) => Effect.sync(() => parts.push(part)))
  const error = await Effect.runPromise(Effect.match(run, { onFailure: (error) => error, onSuccess: () => undefined }))
  assert.ok(error === undefined || error instanceof WorkerError)
  const finish = parts.find((part) => part.type === "finish")
  return {
    text: finish?.text ?? joined(parts, "text"),
    reasoning: joined(parts, "reasoning"),
    calls: parts.filter((part) => part.type === "tool-call"),
    finish: finish?.reason,
    notices: parts.flatMap((part) => (part.type === "notice" ? [part.notice] : [])),
    usage: finish?.usage ?? error?.usage,
    error
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Judging
// -------------------------------------------------------------------------------------------------------------------

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const holdCalls = (expected: NonNullable<ResponseRow["expected"]["calls"]>, calls: ReadonlyArray<ToolCall>) => {
  assert.deepEqual(
    calls.map(({ arguments: text, name }) => ({ name, arguments: parsed(text) })),
    expected.map(({ arguments: value, name }) => ({ name, arguments: value })),
    "The calls of tools are others."
  )
  for (const [index, { id }] of expected.entries()) if (id !== undefined) assert.equal(calls[index]?.id, id)
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, "Two calls have one id.")
}

const holdFailure = ({ failure = [], retryAfterMillis, says = [] }: ResponseRow["expected"], { error }: Read) => {
  assert.ok(error, `The call must fail with ${failure.join(" or ")}, but it ended well.`)
  const { reason } = error
  assert.ok(failure.includes(reason._tag), `It must fail with ${failure.join(" or ")}, not ${error.message}`)
  for (const words of says) assert.ok(error.message.includes(words), `"${words}" is missing in: ${error.message}`)
  if (retryAfterMillis !== undefined) {
    assert.equal("retryAfterMillis" in reason ? reason.retryAfterMillis : undefined, retryAfterMillis)
  }
}

/** Throws if the answer in a row was not read as expected. */
export const hold = ({ expected }: ResponseRow, read: Read): void => {
  if (expected.failure === undefined) assert.equal(read.error?.message, undefined, "The call must succeed.")
  else holdFailure(expected, read)
  if (expected.text !== undefined) assert.equal(read.text, expected.text, "The text is another.")
  if (expected.reasoning !== undefined) assert.equal(read.reasoning, expected.reasoning, "The reasoning is another.")
  if (expected.calls !== undefined) holdCalls(expected.calls, read.calls)
  if (expected.finish !== undefined) assert.equal(read.finish, expected.finish, "It ended for another reason.")
  for (const words of expected.notices ?? []) {
    assert.ok(
      read.notices.some((notice) => notice.includes(words)),
      `"${words}" is missing in: ${read.notices}`
    )
  }
  for (const [figure, count] of Object.entries(expected.usage ?? {})) {
    assert.equal(read.usage?.[figure as keyof Usage], count, `${figure} is another.`)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Running
// -------------------------------------------------------------------------------------------------------------------

/** Connection options for a worker that is tested with a row. */
export interface Connection {
  /** Base URL, without a path or trailing slash. */
  readonly baseURL: string
  readonly apiKey: string
  /** The row, which may require certain settings. */
  readonly row: ResponseRow
}

/** A provider that reads the corpus. */
export interface Options {
  /** The tested provider, e.g. `openai`. */
  readonly name: string
  readonly protocol: Protocol
  /**
   * Creates the worker for a row. Returns `undefined` if the provider does not support a setting that the row requires.
   */
  readonly make: (connection: Connection) => Worker | undefined
}

/**
 * Runs one row against a provider. Returns false if the row was skipped because the provider lacks a required setting.
 *
 * @internal
 */
export const check = async (row: ResponseRow, { make }: Options): Promise<boolean> => {
  await using server = await serve(row.replies)
  const worker = make({ baseURL: server.url, apiKey: "sk-corpus", row })
  if (worker === undefined) return false
  hold(row, await ask(worker, row))
  const sent = server.bodies.length
  assert.equal(sent, row.requests ?? 1, `${sent} requests were made.`)
  for (const field of row.without ?? []) assert.ok(!(field in (server.bodies.at(-1) ?? {})), `${field} was sent again.`)
  for (const [field, value] of Object.entries(row.sends ?? {})) {
    assert.deepEqual(server.bodies.at(-1)?.[field], value, `${field} was sent with another value.`)
  }
  return true
}

const checkGap = async (row: ResponseRow, options: Options, reason: string): Promise<void> => {
  const isRead = await check(row, options).catch(() => false)
  if (isRead) throw new Error(`${row.id} is declared as a gap ("${reason}"), but it passes: remove the declaration.`)
}

/**
 * Registers the rows of a provider's protocol as tests.
 *
 * **Details**
 *
 * `gaps` maps the rows that the provider does not support to a reason. The test fails if a gap passes or names an
 * unknown row.
 *
 * **Example**
 *
 * ```ts no-run
 * import type { Worker } from "@divisi/core/Worker"
 * import { Corpus } from "@divisi/testkit/providers"
 * import { describe, it } from "vitest"
 *
 * // The provider's own constructor.
 * declare const acme: (model: string, options: { readonly apiKey: string; readonly baseURL: string }) => Worker
 *
 * Corpus.corpus({
 *   name: "acme",
 *   protocol: "chat",
 *   make: ({ apiKey, baseURL }) => acme("tiny", { apiKey, baseURL: `${baseURL}/v1` }),
 *   describe,
 *   it
 * })
 * ```
 */
export const corpus = (options: Options & Runner & { readonly gaps?: Gaps | undefined }): void => {
  const { describe, gaps = {}, it, name, protocol } = options
  const own = responsesOf(protocol)
  const unknown = Object.keys(gaps).filter((id) => !own.some((row) => row.id === id))
  describe(`${name} reads the corpus of ${protocol}`, () => {
    if (unknown.length > 0) {
      it("names rows", async () => {
        throw new Error(`No row of the corpus is called ${unknown.join(", ")}.`)
      })
    }
    for (const row of own) {
      const reason = gaps[row.id]
      if (reason !== undefined) it(`gap: ${row.id}: ${reason}`, () => checkGap(row, options, reason))
      else it(`${row.id}: ${row.source.subject}`, async () => void (await check(row, options)))
    }
  })
}

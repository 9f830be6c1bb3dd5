/**
 * Streams a run as a web-standard `Response` of server-sent events. Works as a route handler in Next.js, Hono, Deno,
 * Bun and Cloudflare Workers.
 */
import * as AnswerText from "../events/AnswerText.ts"
import type { RunEvent } from "../events/RunEvent.ts"
import { maxRounds } from "../loop/run.ts"
import * as Options from "../Options.ts"
import { refusalOf } from "./options.ts"
import { type ConductOptions, streamRun } from "./runs.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A chunk of the answer text. */
export interface AnswerPiece {
  readonly type: "answer-delta"
  readonly text: string
}

/** An event sent to the browser: an event of the run, or a chunk of its answer. */
export type PageEvent = RunEvent | AnswerPiece

/** Options for {@link streamResponse} and {@link eventResponse}. */
export interface StreamOptions {
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Interval between keep-alive comments on an idle connection, in milliseconds. They prevent proxies from closing the
   * connection. Default: 15,000. 0 disables them.
   */
  readonly keepAliveMillis?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Streams
// -------------------------------------------------------------------------------------------------------------------

const defaultKeepAliveMillis = 15_000

// Marked as pure, so that a bundle that does not use it leaves it out.
const streamShape = /* @__PURE__ */ (() =>
  ({
    headers: Options.recordOf(Options.text),
    keepAliveMillis: Options.number(0, 2 ** 31 - 1)
  }) satisfies Options.ShapeOf<StreamOptions>)()

/** The default event filter. Excludes the events that contain intermediate prompts and model output. */
const isPublic = ({ type }: PageEvent): boolean =>
  type !== "completion-delta" && type !== "step-delta" && type !== "completion-finished"

/** Yields the run's events, each followed by the answer text that it completes. */
async function* pageEvents(options: ConductOptions): AsyncGenerator<PageEvent, void, undefined> {
  let state = AnswerText.start({ maxRounds: maxRounds(options) })
  for await (const event of streamRun(options)) {
    const [next, text] = AnswerText.emit(state, event)
    state = next
    // `run-finished` must be the last event, so the remaining text is sent before it.
    if (event.type === "run-finished" && text !== "") yield { type: "answer-delta", text }
    yield event
    if (event.type !== "run-finished" && text !== "") yield { type: "answer-delta", text }
  }
}

/** Returns the options with a signal that is aborted by either the caller's signal or `stop`. */
const stoppable = (options: ConductOptions) => {
  const controller = new AbortController()
  const { signal } = options
  const either = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal])
  return { options: { ...options, signal: either }, stop: () => controller.abort() }
}

/** Returns a response body that streams text chunks as they arrive. Calls `stop` if the client disconnects. */
const bodyOf = (
  first: IteratorResult<string, void>,
  texts: AsyncGenerator<string, void, undefined>,
  stop: () => void,
  keepAliveMillis: number
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  let isQuiet = true
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (first.done !== true) controller.enqueue(encoder.encode(first.value))
      if (keepAliveMillis === 0) return
      timer = setInterval(() => {
        if (isQuiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": \n\n"))
        isQuiet = true
      }, keepAliveMillis)
    },
    pull: async (controller) => {
      try {
        const { done, value } = await texts.next()
        isQuiet = false
        if (done !== true) return controller.enqueue(encoder.encode(value))
        clearInterval(timer)
        controller.close()
      } catch (error) {
        clearInterval(timer)
        controller.error(error)
      }
    },
    cancel: () => {
      clearInterval(timer)
      stop()
    }
  })
}

/**
 * Starts a run and returns a `Response` of server-sent events in a custom protocol. `render` converts the run's events
 * to the text to send. To send the events unchanged, use {@link eventResponse}.
 *
 * **Details**
 *
 * The promise resolves when `render` has yielded its first text, so invalid options reject the promise instead of
 * breaking a response that has started. If the client disconnects, the run is stopped.
 */
export const streamResponse = async (
  options: ConductOptions,
  render: (events: AsyncGenerator<PageEvent, void, undefined>) => AsyncGenerator<string, void, undefined>,
  stream: StreamOptions = {}
): Promise<Response> => {
  await refusalOf("streamResponse", options)
  Options.check("the options of the stream", stream, streamShape)
  const { headers, keepAliveMillis = defaultKeepAliveMillis } = stream
  const { options: run, stop } = stoppable(options)
  const texts = render(pageEvents(run))
  const body = bodyOf(await texts.next(), texts, stop, keepAliveMillis)
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Disables response buffering in proxies such as nginx.
      "x-accel-buffering": "no",
      ...headers
    }
  })
}

async function* sent(events: AsyncGenerator<PageEvent, void, undefined>, isSent: (event: PageEvent) => boolean) {
  for await (const event of events) {
    if (isSent(event)) yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  }
}

/**
 * Starts a run and returns a `Response` that streams its events as server-sent events.
 *
 * **Details**
 *
 * The stream contains the events of `streamRun` and an `answer-delta` event for each chunk of the answer, with the
 * chunk in `text`. The SSE event name is the event's `type`; the data is the event as JSON. `run-finished` is always
 * the last event. Intermediate model output (`completion-delta`, `step-delta`, `completion-finished`) is omitted by
 * default; pass `select` to choose which events are sent. If the client disconnects, the run is stopped. Invalid
 * options reject the promise with an `OptionsError`.
 *
 * **Example**
 *
 * ```ts
 * import { eventResponse, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * const response = await eventResponse({ question: "What is 6 times 7?", pool, policy: single(0) })
 * response.headers.get("content-type") // => "text/event-stream; charset=utf-8"
 * const text = await response.text()
 * text.includes('event: answer-delta\ndata: {"type":"answer-delta","text":"42"}') // => true
 * ```
 */
export const eventResponse = (
  options: ConductOptions,
  { select = isPublic, ...stream }: StreamOptions & { readonly select?: (event: PageEvent) => boolean } = {}
): Promise<Response> => {
  return streamResponse(options, (events) => sent(events, select), stream)
}

/** A run as a web `Response` of server-sent events, for a route handler of any server: Next, Hono, Deno, Bun, Workers. */
import * as AnswerText from "../events/AnswerText.ts"
import type { RunEvent } from "../events/RunEvent.ts"
import { maxRounds } from "../loop/run.ts"
import * as Options from "../Options.ts"
import { type ConductOptions, streamRun } from "./runs.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A chunk of the answer. */
export interface AnswerPiece {
  readonly type: "answer-delta"
  readonly text: string
}

/** An event sent to a page: an event of the run, or a chunk of its answer. */
export type PageEvent = RunEvent | AnswerPiece

/** Options for the response. */
export interface StreamOptions {
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * The interval after which a comment is sent on an idle connection, in milliseconds, so that proxies do not close it.
   * Default: 15,000; 0 sends none.
   */
  readonly keepAliveMillis?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Streams
// -------------------------------------------------------------------------------------------------------------------

const defaultKeepAliveMillis = 15_000

const streamShape = {
  headers: Options.recordOf(Options.text),
  keepAliveMillis: Options.number(0, 2 ** 31 - 1)
} satisfies Options.ShapeOf<StreamOptions>

/** Whether a page receives an event: prompts and answers of models are excluded. */
const isPublic = ({ type }: PageEvent): boolean =>
  type !== "completion-delta" && type !== "step-delta" && type !== "completion-finished"

/** Yields the events of a run and the chunks of its answer. Each chunk follows its event. */
async function* pageEvents(options: ConductOptions): AsyncGenerator<PageEvent, void, undefined> {
  let state = AnswerText.start({ maxRounds: maxRounds(options) })
  for await (const event of streamRun(options)) {
    const [next, text] = AnswerText.emit(state, event)
    state = next
    // The end of a run is the last event.
    if (event.type === "run-finished" && text !== "") yield { type: "answer-delta", text }
    yield event
    if (event.type !== "run-finished" && text !== "") yield { type: "answer-delta", text }
  }
}

/** Returns the options of a run with a signal that is aborted by the caller's signal or by `stop`. */
const stoppable = (options: ConductOptions) => {
  const controller = new AbortController()
  const { signal } = options
  const either = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal])
  return { options: { ...options, signal: either }, stop: () => controller.abort() }
}

/** Returns a body that streams texts as they arrive. If the client disconnects, `stop` is called. */
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
 * Runs a question, and returns a `Response` of server-sent events in a custom protocol: `render` converts the events of
 * the run. {@link eventResponse} sends the events unchanged.
 *
 * **Details**
 *
 * The promise resolves when the first text is available, so that invalid options reject it before anything is sent. If
 * the client disconnects, the run is stopped.
 */
export const streamResponse = async (
  options: ConductOptions,
  render: (events: AsyncGenerator<PageEvent, void, undefined>) => AsyncGenerator<string, void, undefined>,
  stream: StreamOptions = {}
): Promise<Response> => {
  Options.check("the options of the stream", stream, streamShape)
  const { headers, keepAliveMillis = defaultKeepAliveMillis } = stream
  const { options: run, stop } = stoppable(options)
  const texts = render(pageEvents(run))
  const body = bodyOf(await texts.next(), texts, stop, keepAliveMillis)
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Proxies such as nginx collect a response otherwise.
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
 * Runs a question, and returns a `Response` of server-sent events.
 *
 * **Details**
 *
 * Sends the events of `streamRun`, and `answer-delta` events with a chunk of the answer as `text`. The name of an event
 * is its `type`, and its data is the event as JSON. The last event is `run-finished`. By default, events with
 * intermediate texts (`completion-delta`, `step-delta`, `completion-finished`) are omitted; use `select` to change
 * that. If the client disconnects, the run is stopped. Invalid options reject the promise with an `OptionsError`.
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

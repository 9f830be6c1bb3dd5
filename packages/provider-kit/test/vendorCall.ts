/** A vendor of few events, and what a reader of its stream gets. */
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerError, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { VendorError, VendorStream } from "@divisi/provider-kit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** A vendor's events: a piece of text, a report of usage, why it ended, or what went wrong. */
export type Event =
  | string
  | { readonly usage: Usage }
  | { readonly end: FinishReason }
  | { readonly failure: WorkerErrorReason }

export interface State {
  readonly end?: FinishReason | undefined
  readonly usage?: Usage | undefined
}

export const protocol: VendorStream.Protocol<Event, State> = {
  initial: {},
  next: (state, event) => {
    if (typeof event === "string") return { state, parts: event === "" ? [] : [{ type: "text", text: event }] }
    if ("failure" in event) return { state, parts: [], failure: event.failure }
    return { state: { ...state, ...event }, parts: [] }
  },
  finishReason: ({ end }) => end,
  usage: ({ usage }) => usage
}

export const usage = { inputTokens: 7, outputTokens: 2 }

export const call = (
  events: (signal: AbortSignal) => AsyncIterable<Event>,
  more: Partial<VendorStream.Call<Event, State>> = {}
): VendorStream.Call<Event, State> => ({
  worker: "acme:tiny",
  messages: [{ role: "user", content: "12345678" }],
  protocol,
  open: async (signal) => ({ events: events(signal) }),
  reason: (error) => VendorError.fromException(error, {}),
  timeoutMillis: 60_000,
  ...more
})

export const never = () => new Promise<never>(() => {})

/** Returns the parts that a reader received, and how the stream ended. */
export const reading = (of: VendorStream.Call<Event, State>) => {
  const texts: Array<string> = []
  let failure: WorkerError | undefined
  let finish: WorkerPart | undefined
  const read = Stream.runForEach(VendorStream.make(of), (part) =>
    Effect.sync(() => {
      if (part.type === "finish") finish = part
      else texts.push(part.type === "text" ? part.text : part.type)
    })
  )
  const done = Effect.runPromise(Effect.result(read)).then((result) => {
    if (Result.isFailure(result)) failure = result.failure
    return { texts, finish, failure }
  })
  return { texts, done, failure: () => failure }
}

export const read = (of: VendorStream.Call<Event, State>) => reading(of).done

/** Lets everything happen that needs no time. */
export const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

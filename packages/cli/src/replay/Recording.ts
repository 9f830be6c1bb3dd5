/** Reads what a run was recorded in: a transcript, or its events as lines of JSON. */
import type { RunEvent } from "@divisi/core/RunEvent"
import * as Wire from "@divisi/core/Wire"
import * as Result from "effect/Result"
import { fromTranscript } from "./TranscriptEvents.ts"

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const clearly = <A>(read: Result.Result<A, Wire.WireError>): Result.Result<A, string> =>
  Result.mapError(read, (error) => `cannot be replayed. ${error.message}`)

const readEvents = (text: string): Result.Result<ReadonlyArray<RunEvent>, string> =>
  Result.flatMap(clearly(Wire.decodeRunEvents(text)), (events) =>
    events[0]?.type === "run-started"
      ? Result.succeed(events)
      : Result.fail("cannot be replayed. Its first event is not run-started: the beginning is missing.")
  )

const neither = "is neither a transcript nor the events of a run"

/** The events of a recording, whichever of the two it is. A failure says what is wrong with it. */
export const read = (text: string): Result.Result<ReadonlyArray<RunEvent>, string> => {
  if (text.trim() === "") return Result.fail("is empty.")
  const whole = parse(text)
  if (isObject(whole) && "rounds" in whole) return Result.map(clearly(Wire.readTranscript(whole)), fromTranscript)
  // Of several lines only the first is JSON by itself; a transcript that was cut off has not even that.
  const first = whole ?? parse(text.slice(0, text.indexOf("\n") >>> 0))
  if (isObject(first) && "type" in first && "runId" in first) return readEvents(text)
  return Result.fail(whole === undefined ? `${neither}; or it was cut off.` : `${neither}.`)
}

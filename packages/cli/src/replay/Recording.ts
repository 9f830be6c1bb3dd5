/** Loads a recorded run: a transcript, or its events as JSON Lines. */

import { type RunEvent, Transcript } from "@divisi/core"
import { isObject } from "@divisi/core/Fields"
import * as Wire from "@divisi/core/Wire"
import { Sealed } from "@divisi/files"
import * as Result from "effect/Result"

/** A recorded run. */
export interface Recording {
  /** The complete transcript. */
  readonly run: Transcript.Transcript
  /** Time of the last event, in milliseconds since 1970. */
  readonly endedAt: number
  /** Returns the state of the run at a given time, or its initial state for an earlier time. */
  readonly at: (time: number) => Transcript.Transcript
}

/** Creates a recording from a transcript. Each text appears once it is complete. */
const ofTranscript = (run: Transcript.Transcript): Recording => ({
  run,
  endedAt: Transcript.endOf(run),
  at: (time) => Transcript.at(run, time)
})

/**
 * Creates a recording from events, so that texts grow as in the original run. Folds the events up to the requested time
 * and continues from there.
 */
const ofEvents = (events: ReadonlyArray<RunEvent.RunEvent>): Recording => {
  const run = Transcript.fromEvents(events)!
  const fold = () => {
    const recorder = Transcript.recorder()
    recorder.listener(events[0]!)
    return { recorder, next: 1, time: Number.NEGATIVE_INFINITY }
  }
  let state = fold()
  return {
    run,
    endedAt: Math.max(Transcript.endOf(run), events.at(-1)!.at),
    at: (time) => {
      if (time < state.time) state = fold()
      state.time = time
      while (state.next < events.length && events[state.next]!.at <= time)
        state.recorder.listener(events[state.next++]!)
      return state.recorder.transcript()!
    }
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const clearly = <A>(read: Result.Result<A, Wire.WireError>): Result.Result<A, string> =>
  Result.mapError(read, (error) => `cannot be replayed. ${error.message}`)

const readEvents = (text: string): Result.Result<Recording, string> =>
  Result.flatMap(clearly(Wire.decodeRunEvents(text)), (events) =>
    events[0]?.type === "run-started"
      ? Result.succeed(ofEvents(events))
      : Result.fail("cannot be replayed: the first event is not run-started, so the beginning is missing.")
  )

/** Verifies the checksum of a transcript, if it has one. */
const intact = (whole: object): Result.Result<object, string> =>
  Result.try({
    try: () => Sealed.open(whole, { isOptional: true }),
    catch: (error) => `cannot be replayed: ${(error as Error).message}.`
  })

const readTranscript = (whole: object): Result.Result<Recording, string> =>
  Result.map(clearly(Wire.readTranscript(whole)), ofTranscript)

const neither = "is not a run transcript or event file"

/** Remedy for a file that is neither. */
export const remedy = "Write a transcript with: divisi run <question> --transcript <file>"

/** Parses a recording in either format. On failure, returns a description of the problem. */
export const read = (text: string): Result.Result<Recording, string> => {
  if (text.trim() === "") return Result.fail("is empty.")
  const whole = parse(text)
  if (isObject(whole) && "rounds" in whole) return Result.flatMap(intact(whole), readTranscript)
  // If there are several lines, only the first one is valid JSON text; a truncated transcript has no valid first line.
  const first = whole ?? parse(text.slice(0, text.indexOf("\n") >>> 0))
  if (isObject(first) && "type" in first && "runId" in first) return readEvents(text)
  return Result.fail(`${whole === undefined ? `${neither}. It may be truncated` : neither}. ${remedy}`)
}

/**
 * Follows a run in real time: receives its events over a connection that may be interrupted, and folds them with core.
 */

import { type RunEvent, type Transcript, Transcript as Transcripts } from "@divisi/core"
import * as Format from "../run/Format.ts"
import type { Summary } from "../run/Summary.ts"
import { ask, askJson, exportedRun, isExported, isRefusal, type Run } from "./Source.ts"

/** Parses a stream of server-sent events into ids and data. */
export async function* eventsIn(
  body: ReadableStream<Uint8Array>
): AsyncGenerator<{ readonly id: string | undefined; readonly data: string }> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let pieces: Array<string> = []
  let id: string | undefined
  let data: Array<string> = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const text = decoder.decode(value, { stream: true })
    // A line may arrive in thousands of chunks, which are joined only once.
    if (!text.includes("\n")) {
      pieces.push(text)
      continue
    }
    const lines = (pieces.join("") + text).split("\n")
    pieces = [lines.pop() ?? ""]
    for (const line of lines.map((line) => line.replace(/\r$/, ""))) {
      if (line.startsWith("id:")) id = line.slice(3).trim()
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""))
      else if (line === "") {
        if (data.length > 0) yield { id, data: data.join("\n") }
        data = []
      }
    }
  }
}

/** Whether the run will not change unless it is resumed. If so, it is not followed. */
export const isOver = (state: string): boolean => !["running", "waiting", "suspended", "stopped"].includes(state)

/** Returns the transcript of a run that has ended from its events. */
const fromEvents = async (id: string, signal: AbortSignal): Promise<Transcript.Transcript | undefined> => {
  const recorder = Transcripts.recorder()
  const response = await ask(`v1/runs/${Format.segment(id)}/events`, { signal })
  for await (const { data } of eventsIn(response.body!)) recorder.listener(JSON.parse(data) as RunEvent.RunEvent)
  return recorder.transcript()
}

/**
 * Loads a run. A server's response includes only the first items of each step, so a run that has ended and has more of
 * them is loaded from its events. All other runs are followed.
 */
export const readRun = async (id: string, signal: AbortSignal): Promise<Run> => {
  if (isExported()) return exportedRun(id)
  const { more_items, transcript, ...summary } = (await askJson(`v1/runs/${Format.segment(id)}`, {
    signal
  })) as Summary & {
    readonly transcript?: Transcript.Transcript
    readonly more_items?: ReadonlyArray<unknown>
  }
  const isPartial = more_items !== undefined && isOver(summary.state)
  return { summary, transcript: isPartial ? await fromEvents(id, signal) : transcript }
}

/** State of the connection to a run. */
export type Connection = "connecting" | "live" | "reconnecting" | "ended"

/** Options for following a run. */
export interface Follower {
  /** Called at most once per animation frame. */
  readonly onTranscript: (transcript: Transcript.Transcript) => void
  readonly onConnection: (connection: Connection) => void
  readonly signal: AbortSignal
}

/** Waits for the given time, or until the signal is aborted. */
export const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

/**
 * Follows a run until it ends. Folds its events with core, and continues after the last event if the connection is
 * interrupted.
 */
export const followRun = async (id: string, { onConnection, onTranscript, signal }: Follower): Promise<void> => {
  const recorder = Transcripts.recorder()
  let last: string | undefined
  let isEnded = false
  let failures = 0
  let frame = 0
  const draw = () => {
    frame = 0
    const transcript = recorder.transcript()
    if (transcript !== undefined && !signal.aborted) onTranscript(transcript)
  }
  const hear = (event: RunEvent.RunEvent) => {
    recorder.listener(event)
    // A run that failed and was resumed has events after its first ending.
    if (event.type !== "run-finished") isEnded = false
    else if (event.runId === recorder.transcript()?.runId) isEnded = true
    if (frame === 0) frame = requestAnimationFrame(draw)
  }
  while (!signal.aborted && !isEnded) {
    try {
      onConnection(failures === 0 && last === undefined ? "connecting" : "reconnecting")
      const more: Record<string, string> = last === undefined ? {} : { "last-event-id": last }
      const response = await ask(`v1/runs/${Format.segment(id)}/events`, { headers: more, signal })
      onConnection("live")
      for await (const event of eventsIn(response.body!)) {
        failures = 0
        last = event.id ?? last
        hear(JSON.parse(event.data) as RunEvent.RunEvent)
      }
      // The stream was interrupted before the run ended.
      if (!isEnded) failures += 1
    } catch (error) {
      if (signal.aborted) return
      if (isRefusal(error)) throw error
      failures += 1
    }
    if (!isEnded) {
      onConnection("reconnecting")
      await pause(Math.min(5_000, 200 * 2 ** Math.min(failures, 5)), signal)
    }
  }
  cancelAnimationFrame(frame)
  draw()
  onConnection("ended")
}

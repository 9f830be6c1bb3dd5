/** Progress reports of tools. Limits their size and rate before they are passed on. */
import type * as Clock from "effect/Clock"
import { millisSince, ticks } from "../../Elapsed.ts"
import { defined } from "../../Fields.ts"
import { plain } from "../../Thrown.ts"
import type { ToolProgress } from "../../task/Tool.ts"

/**
 * Minimum interval between events, in milliseconds. When the tool finishes, the latest unreported progress is emitted.
 */
const intervalMillis = 100

/** Maximum number of events per call. */
const maxEvents = 1_000

const maxCharacters = 500

/** Progress reporting for a single tool call. */
export interface Progress {
  /** Accepts a report of any type. Never throws. */
  readonly report: (update: unknown) => void
  /** Emits the latest unreported progress. Later reports are ignored. */
  readonly end: () => void
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

const messageIn = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined
  const message = plain(value.slice(0, maxCharacters)).trim()
  return message === "" ? undefined : message.toWellFormed()
}

/**
 * Parses a progress report. Returns `undefined` if it is empty, or if a user-supplied object throws when it is read.
 */
const read = (update: unknown): ToolProgress | undefined => {
  if (typeof update !== "object" || update === null) {
    const message = messageIn(update)
    return message === undefined ? undefined : { message }
  }
  try {
    const { message, progress, total } = update as { readonly [Field in keyof ToolProgress]: unknown }
    const report: ToolProgress = defined({
      progress: numberIn(progress),
      total: numberIn(total),
      message: messageIn(message)
    })
    return report.progress === undefined && report.message === undefined ? undefined : report
  } catch {
    return undefined
  }
}

/** Creates a progress reporter for a tool call. */
export const make = (clock: Clock.Clock, emit: (progress: ToolProgress) => void): Progress => {
  let emitted = 0
  let emittedAt = Number.NEGATIVE_INFINITY
  let latest: unknown
  let isOpen = true
  const send = () => {
    const report = read(latest)
    latest = undefined
    if (report === undefined) return
    emitted += 1
    emittedAt = ticks(clock)
    emit(report)
  }
  return {
    report: (update) => {
      if (!isOpen || emitted >= maxEvents) return
      latest = update
      if (millisSince(clock, emittedAt) >= intervalMillis) send()
    },
    end: () => {
      if (isOpen && latest !== undefined) send()
      isOpen = false
    }
  }
}

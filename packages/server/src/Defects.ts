/** Mistakes of this server: each is logged once with its cause and its request, and counted. */
import * as Cause from "effect/Cause"

/** The part of the server that failed. */
export type Part = "request" | "run" | "response" | "store" | "socket" | "log"

/** The request of a defect, as far as known. */
export interface About {
  /** As the client reads it: `x-request-id`. */
  readonly id?: string | undefined
  readonly method?: string | undefined
  /** The path, or the wire. */
  readonly path?: string | undefined
  /** The name of its key. */
  readonly owner?: string | undefined
  readonly status?: number | undefined
  readonly runId?: string | undefined
}

/** Reports a defect, an error or a `Cause`. */
export type Report = (part: Part, about: About, cause: unknown) => void

/** Options for reporting defects. */
export interface Options {
  readonly log: (text: string) => void
  readonly count: (part: Part) => void
  /** Whether messages of errors are logged, which may quote a request or an answer; true by default. */
  readonly hasMessages?: boolean | undefined
}

/** The longest text of a cause. */
const maxCharacters = 8_000

/** The longest path or name that is shown. */
const maxShown = 200

/** The kind of an error and the places of its stack, without its message. */
const withoutMessage = (cause: unknown): string => {
  if (!(cause instanceof Error)) return typeof cause
  const stack = cause.stack ?? ""
  const header = `${cause.name}: ${cause.message}`
  const trace = stack.startsWith(header) ? stack.slice(header.length) : ""
  return `${cause.constructor.name}${trace}`
}

const withMessage = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause)

/** An error with its stack and the errors behind it. */
const textOf = (cause: unknown, shownAs: (cause: unknown) => string): string => {
  const lines: Array<string> = []
  const seen = new Set<unknown>()
  for (let at = cause; at !== undefined && !seen.has(at) && lines.length < 10; ) {
    seen.add(at)
    lines.push(shownAs(at))
    at = at instanceof Error ? at.cause : undefined
  }
  return lines.join("\nCaused by: ")
}

const shown = (name: string, value: string | number | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : [`${name} ${String(value).slice(0, maxShown)}`]

/** Makes a report. */
export const make = ({ count, hasMessages = true, log }: Options): Report => {
  /** The request that each cause was last reported for: two parts may notice the same mistake. */
  const known = new WeakMap<object, string | undefined>()
  return (part, { id, method = "", owner, path, runId, status }, given) => {
    const cause = Cause.isCause(given) ? Cause.squash(given) : given
    if (typeof cause === "object" && cause !== null) {
      if (known.has(cause) && known.get(cause) === id) return
      known.set(cause, id)
    }
    count(part)
    const about = [
      ...shown("request", id),
      ...shown("path", path === undefined ? undefined : `${method} ${path}`.trim()),
      ...shown("key", owner),
      ...shown("status", status),
      ...shown("run", runId)
    ]
    const text = textOf(cause, hasMessages ? withMessage : withoutMessage)
    log(`Defect in ${part} (${about.join(", ")}): ${text.length > maxCharacters ? text.slice(0, maxCharacters) : text}`)
  }
}

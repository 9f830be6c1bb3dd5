/**
 * Reports internal server errors. Each defect is logged once, with its cause and its request, and counted in the
 * metrics.
 */
import * as Cause from "effect/Cause"

/** The component in which a defect occurred. */
export type Part = "request" | "run" | "response" | "store" | "socket" | "log"

/** The request that triggered a defect, as far as it is known. */
export interface About {
  /** The request id that the client received in `x-request-id`. */
  readonly id?: string | undefined
  readonly method?: string | undefined
  /** The request path or the name of the wire. */
  readonly path?: string | undefined
  /** The name of the caller's key. */
  readonly owner?: string | undefined
  readonly status?: number | undefined
  readonly runId?: string | undefined
}

/** Reports a defect. `cause` is an error or an Effect `Cause`. */
export type Report = (part: Part, about: About, cause: unknown) => void

/** Options for reporting defects. */
export interface Options {
  readonly log: (text: string) => void
  readonly count: (part: Part) => void
  /** Whether to log error messages, which may quote a request or an answer. Default: true. */
  readonly hasMessages?: boolean | undefined
}

/** Maximum length of a logged cause, in characters. */
const maxCharacters = 8_000

/** Maximum length of a logged path or name, in characters. */
const maxShown = 200

/** Returns the class of an error and its stack trace, without the error message. */
const withoutMessage = (cause: unknown): string => {
  if (!(cause instanceof Error)) return typeof cause
  const stack = cause.stack ?? ""
  const header = `${cause.name}: ${cause.message}`
  const trace = stack.startsWith(header) ? stack.slice(header.length) : ""
  return `${cause.constructor.name}${trace}`
}

const withMessage = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause)

/** Formats an error with its stack trace and its chain of causes. */
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

/** Creates a function that reports defects. */
export const make = ({ count, hasMessages = true, log }: Options): Report => {
  /**
   * Maps each cause to the request id that it was last reported for, because two components may catch the same defect.
   */
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

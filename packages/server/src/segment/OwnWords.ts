/**
 * Redacts run events for callers without the `admin` right. If a failure concerns this server's accounts, hosts or
 * code, this server's message replaces the provider's, as in error responses.
 */
import type { RunEvent, StepFailure } from "@divisi/core"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as Failure from "./Failure.ts"

/** Event types without provider text other than answers. All other events are handled below. */
type WithoutProviderText =
  | "run-started"
  | "round-started"
  | "plan-waiting"
  | "plan-decided"
  | "completion-delta"
  | "step-started"
  | "step-unfolded"
  | "step-delta"
  | "tool-started"
  | "tool-progress"
  | "tool-finished"
  | "step-waiting"
  | "step-notice"
  | "call-interrupted"
  | "call-lost"
  | "step-finished"
  | "step-skipped"
  | "check-answered"
  | "critic-answered"
  | "round-finished"

/** Redacts the events of one run. Events must be passed in order. */
export type OwnWords = (event: RunEvent.RunEvent) => RunEvent.RunEvent

/** Matches messages about a store of this server, which contain its file name or database address. */
const ofStore = /\bThe (?:accounts file|database|file|journal) (?:\/|\w:|~|\.|postgres|file:|memory|in |\()/

/** Message for a failed store of this server. */
const storeFailed = "The server's storage is unavailable. The server log has the details."

/**
 * Maximum number of failure messages to redact in subsequent text. If there are more, the text is replaced completely.
 */
const maxRemembered = 64

/** Returns a failure reason without the provider's message. */
const bare = ({ detail: _, ...reason }: WorkerErrorReason) => reason as WorkerErrorReason

/** Creates a redactor for one run, including its nested runs. */
export const make = (): OwnWords => {
  const remembered = new Map<string, string>()
  let isFull = false

  const remember = (message: string, words: string): void => {
    if (remembered.has(message)) return
    if (remembered.size < maxRemembered) remembered.set(message, words)
    else isFull = true
  }

  /**
   * Returns this server's message for a class of failures, or `undefined` if the provider's message is about the
   * client's request.
   */
  const wordsFor = (worker: string, reason: WorkerErrorReason, message: string): string | undefined => {
    const words = Failure.ownWords(worker, reason)
    if (words !== undefined) remember(message, words)
    return words
  }

  /** Redacts a text that may quote earlier failures of the run. */
  const own = (text: string): string => {
    let said = text
    // A message may contain a shorter one.
    const longestFirst = [...remembered].sort(([one], [other]) => other.length - one.length)
    for (const [message, words] of longestFirst) said = said.replaceAll(message, words)
    return isFull || Failure.isAboutAccount(new Error(said)) ? Failure.unnamed : said
  }

  /** Redacts the fields of a failed or reassigned step. */
  const ofStep = <A extends Pick<StepFailure.StepFailure, "message" | "reason" | "worker">>(failure: A): A => {
    const { message, reason, worker } = failure
    if (reason === undefined) return { ...failure, message: own(message) }
    const words = wordsFor(worker, { _tag: reason, detail: message }, message)
    return words === undefined ? failure : { ...failure, message: words }
  }

  return (event) => {
    switch (event.type) {
      case "call-failed": {
        const words = wordsFor(event.worker, event.reason, event.message)
        return words === undefined ? event : { ...event, reason: bare(event.reason), message: words }
      }
      case "step-reassigned": {
        const { from, message, reason } = event
        if (message === undefined) return event
        return { ...event, message: ofStep({ message, reason, worker: from } as StepFailure.StepFailure).message }
      }
      case "step-failed":
        return ofStep(event)
      case "step-joined":
        return event.message === undefined ? event : { ...event, message: own(event.message) }
      case "step-checked":
        if (event.objection === undefined) return event
        if (event.couldNotRun === true) remember(event.objection, `The check could not run: ${Failure.unnamed}`)
        return { ...event, objection: own(event.objection) }
      case "turn-finished":
      case "completion-finished":
        return event.error === undefined ? event : { ...event, error: own(event.error) }
      case "workflow-proposed":
      case "round-revised":
        return event.notes.length === 0 ? event : { ...event, notes: event.notes.map(own) }
      case "answer-graded": {
        const { explanation } = event.grade
        return explanation === undefined
          ? event
          : { ...event, grade: { ...event.grade, explanation: own(explanation) } }
      }
      case "run-finished": {
        const { detail, failures } = event
        return {
          ...event,
          ...(failures === undefined ? {} : { failures: failures.map(ofStep) }),
          ...(detail === undefined ? {} : { detail: ofStore.test(detail) ? storeFailed : own(detail) })
        }
      }
      default:
        event.type satisfies WithoutProviderText
        return event
    }
  }
}

/** Redacts all events of a run, starting with the first. */
export const all = (events: ReadonlyArray<RunEvent.RunEvent>): ReadonlyArray<RunEvent.RunEvent> => events.map(make())

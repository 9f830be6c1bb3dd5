/**
 * Derives the parts of a segment from the run's events.
 *
 * A resumed run replays its events from the beginning. Output from earlier segments is skipped: a segment starts after
 * the last of its tool results.
 */
import { AnswerText, type Journal, RunEvent, type StepFailure, type Workflow } from "@divisi/core"
import type { RunResult } from "@divisi/core/Conductor"
import { defined } from "@divisi/core/Fields"
import { ApiError } from "../wire/ApiError.ts"
import * as FieldNames from "../wire/FieldNames.ts"
import type { FailedStep, FinishReason, Part } from "../wire/Wire.ts"
import * as CallId from "./CallId.ts"
import * as Failure from "./Failure.ts"
import * as Metering from "./Metering.ts"
import * as OwnWords from "./OwnWords.ts"
import * as Place from "./Place.ts"
import * as StopText from "./StopText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How much progress the client sees: none, the assignment of subtasks, or all intermediate text. */
export type Notes = "off" | "titles" | "full"

/** Options for deriving the parts. */
export interface Options {
  readonly maxRounds: number
  readonly notes: Notes
  /** Whether the answer must match a schema. If so, it is sent only when complete. */
  readonly isShaped: boolean
  /** Whether the client receives text as it arrives. If not, the text of a failed call is discarded. */
  readonly isStreamed: boolean
  readonly stopSequences?: ReadonlyArray<string> | undefined
  /** Whether the client receives one tool call at a time, even if several steps are waiting. */
  readonly isOneByOne: boolean
  /** Whether each part includes its author. */
  readonly isTagged: boolean
  /** Ids of the calls whose results start this segment. Empty for the first segment of a run. */
  readonly given: ReadonlyArray<string>
  /** The client's names for settings in messages. */
  readonly fieldNames?: FieldNames.FieldNames | undefined
}

/** Converts the events of one segment to parts. */
export interface SegmentParts {
  readonly take: (event: RunEvent.RunEvent) => ReadonlyArray<Part>
  /** Returns the final parts of a finished run. */
  readonly end: (result: RunResult) => ReadonlyArray<Part>
  /** Returns the final parts of a run that was stopped without a result. */
  readonly stop: () => ReadonlyArray<Part>
}

const nothing: ReadonlyArray<Part> = []

const textPart = (text: string, by?: string | undefined): ReadonlyArray<Part> =>
  text === "" ? nothing : [by === undefined ? { type: "text", text } : { type: "text", text, by }]

// -------------------------------------------------------------------------------------------------------------------
// Notes
// -------------------------------------------------------------------------------------------------------------------

const named = (pool: ReadonlyArray<RunEvent.PoolMember>, worker: number): string =>
  pool[worker]?.id ?? `worker ${worker}`

const planOf = (
  { answer, steps }: Workflow.Workflow,
  pool: ReadonlyArray<RunEvent.PoolMember>,
  notes: Notes
): string => {
  const lines = steps.map(({ subtask, worker }, step) => {
    const who = `${step + 1}. ${named(pool, worker)}${step === steps.length - 1 && answer !== "majority" ? " answers" : ""}`
    return notes === "full" && subtask !== "" ? `${who}: ${subtask}` : who
  })
  const end = answer === "majority" ? "; the majority answer is final" : ""
  return notes === "full"
    ? `Plan of ${steps.length} steps${end}:\n${lines.join("\n")}`
    : `Plan of ${steps.length} steps: ${lines.join(", ")}${end}`
}

/** Whether a text is or starts with a progress note. Clients may send notes back as part of the conversation. */
export const isNote = (text: string): boolean =>
  /^(?:Plan of \d+ steps(?:; the answer [a-z ]+)?:|Step \d+ of \d+: )|^(?:It goes on all the same|The answer of step \d+ stands)$/.test(
    text
  )

type Told<Type extends RunEvent.RunEvent["type"]> = Extract<RunEvent.RunEvent, { readonly type: Type }>

/**
 * Describes how the policy reacted to failed checks. Returns `undefined` for a new plan, which is reported separately.
 */
const revisionOf = ({ answer, decision }: Told<"round-revised">): string | undefined => {
  if (decision === "go-on") return "The plan continues"
  return decision === "stop" ? `The answer of step ${answer!.step + 1} is final` : undefined
}

/** Maximum number of tool progress notes per segment. */
const maxProgressNotes = 32

/** Event types without a note. Clients see them in another form or not at all. */
type WithoutNote =
  | "round-started"
  | "plan-waiting"
  | "plan-decided"
  | "completion-delta"
  | "completion-finished"
  | "step-started"
  | "step-unfolded"
  | "step-joined"
  | "step-delta"
  | "turn-finished"
  | "tool-started"
  | "tool-finished"
  | "step-waiting"
  | "step-notice"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
  | "step-reassigned"
  | "step-skipped"
  | "check-answered"
  | "critic-answered"
  | "answer-graded"
  | "round-finished"
  | "run-finished"

/** Formats progress as lines of text: plans with several steps, results of intermediate steps, and check verdicts. */
const noting = (notes: Notes) => {
  let pool: ReadonlyArray<RunEvent.PoolMember> = []
  let steps = 0
  let progressNotes = 0
  let workflow: Workflow.Workflow = { steps: [] }
  const place = (step: number) => `Step ${step + 1} of ${steps}`
  /** Whether to omit the note for a check of the answering step, because the answer passed or is used anyway. */
  const isSilent = ({ passed, step }: Told<"step-checked">) =>
    step === steps - 1 && (passed || workflow.steps[step]?.check?.onFailure === "continue")
  const line = (about: "plan" | "step", text: string, by?: string | undefined): ReadonlyArray<Part> => [
    { type: "note", about, text, by }
  ]
  return (event: RunEvent.RunEvent): ReadonlyArray<Part> => {
    switch (event.type) {
      case "run-started":
        pool = event.pool
        return nothing
      case "workflow-proposed": {
        workflow = event.workflow
        steps = workflow.steps.length
        return notes === "off" || steps < 2 ? nothing : line("plan", planOf(workflow, pool, notes))
      }
      case "step-finished": {
        if (notes === "off" || event.step === steps - 1) return nothing
        const title = `${place(event.step)}: ${RunEvent.authorOf(event)} has answered`
        return line("step", notes === "full" ? `${title}: ${event.answer}` : title, RunEvent.authorOf(event))
      }
      case "tool-progress": {
        const { message, name, step } = event
        if (notes !== "full" || message === undefined || progressNotes >= maxProgressNotes) return nothing
        progressNotes += 1
        return line("step", `${place(step)}: the tool ${name}: ${message}`)
      }
      case "step-failed":
        return notes === "off" || event.step === steps - 1
          ? nothing
          : line("step", `${place(event.step)}: ${event.worker} failed`, event.worker)
      case "step-checked": {
        if (notes === "off" || isSilent(event)) return nothing
        const { check, couldNotRun, objection = "", passed, step, worker } = event
        const verdict = passed ? "passed the check" : couldNotRun ? "was not checked by" : "failed the check"
        const title = `${place(step)}: ${worker} ${verdict} ${check}`
        return line("step", notes === "full" && objection !== "" ? `${title}: ${objection}` : title)
      }
      case "round-revised": {
        const text = notes === "off" ? undefined : revisionOf(event)
        return text === undefined ? nothing : line("plan", text)
      }
      default:
        event.type satisfies WithoutNote
        return nothing
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Speakers
// -------------------------------------------------------------------------------------------------------------------

/** Tracks the author of the text: the worker of the current step, or of the accepted answer. */
const speaking = () => {
  const workers = new Map<number, string>()
  const answers = new Map<string, string>()
  let speaker: string | undefined
  return {
    hear: (event: RunEvent.RunEvent) => {
      if (event.type === "step-started") workers.set(event.step, event.worker)
      if (event.type === "step-finished") answers.set(event.answer, RunEvent.authorOf(event))
      if (event.type === "step-delta") speaker = workers.get(event.step)
      if (event.type === "run-finished") speaker = answers.get(event.answer ?? "") ?? speaker
    },
    who: () => speaker
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Start of a segment
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns a function that consumes the tool results at the start of a segment, and reports for each event whether it
 * belongs to the segment.
 */
const beginning = (given: ReadonlyArray<string>): ((event: RunEvent.RunEvent, path: string) => boolean) => {
  if (given.length === 0) return () => true
  const awaited = new Set(given)
  return (event, path) => {
    if (awaited.size === 0) return true
    if (event.type === "plan-decided") awaited.delete(`${path}${event.round}.plan`)
    if (event.type === "tool-finished") {
      awaited.delete(`${Place.of(path, event)}.${event.turn}.${event.index}`)
    }
    return false
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const finishReasons: Readonly<Record<AnswerText.AnswerText["finishReason"], FinishReason>> = {
  stop: "stop",
  other: "stop",
  length: "length",
  refusal: "refusal",
  "tool-calls": "stop"
}

const failedStep = ({ by, reason, reassignedTo, round, step, worker }: StepFailure.StepFailure): FailedStep =>
  defined({ round, step, by, worker, reason, reassignedTo }) as FailedStep

const brokenOff = new ApiError({
  kind: "upstream",
  message:
    "The stream was interrupted and the retried call returned different text, so the answer cannot be continued. Retry the request."
})

/** Returns a notice for an unsupported setting or a reassigned step. */
const noticeOf = (event: Told<"step-notice" | "step-reassigned">): string =>
  event.type === "step-notice"
    ? `${event.worker}: ${event.notice}`
    : `Step ${event.step}: ${event.from} failed, and ${event.to} took over.`

/** Maximum number of notices per response. */
const maxNotices = 16

/** Creates the converter for one segment. */
export const make = (options: Options): SegmentParts => {
  const { isShaped, maxRounds, stopSequences } = options
  // An answer that does not match its schema is requested again, so no part of it may be sent before it is complete.
  let answer = AnswerText.start({
    maxRounds: isShaped ? Number.POSITIVE_INFINITY : maxRounds,
    isRetractable: !options.isStreamed
  })
  let stop = StopText.start(stopSequences)
  /** Separator between the text before and after a tool call. */
  let gap = ""
  /** Text since the last tool call, if it may still be retracted, and the state before it. */
  let held: Array<Part> = []
  let before = { stop, gap }
  let isBegun = options.given.length === 0
  let notices: Set<string> | undefined
  const notes = noting(options.notes)
  const ownWords = options.notes === "full" ? OwnWords.make() : undefined
  const meter = Metering.make()
  const pathOf = Place.paths()
  const isOurs = beginning(options.given)
  const speakers = options.isTagged ? speaking() : undefined

  const say = (text: string): ReadonlyArray<Part> => {
    if (text === "") return nothing
    const [next, said] = StopText.take(stop, gap + text)
    gap = ""
    stop = next
    const parts = textPart(said, speakers?.who())
    if (options.isStreamed) return parts
    held.push(...parts)
    return nothing
  }

  /** Returns the held text, which can no longer be retracted. */
  const release = (): ReadonlyArray<Part> => {
    const parts = held
    held = []
    before = { stop, gap }
    return parts
  }

  const retract = (): void => {
    held = []
    stop = before.stop
    gap = before.gap
  }

  const take = (event: RunEvent.RunEvent): ReadonlyArray<Part> => {
    const path = pathOf(event)
    isBegun ||= isOurs(event, path)
    meter.take(event, path, isBegun)
    const [next, text] = AnswerText.emit(answer, event)
    const isRoot = event.runId === next.runId
    if (next.retractions !== answer.retractions) retract()
    answer = next
    if (isRoot) speakers?.hear(event)
    if (event.type === "step-notice" || event.type === "step-reassigned") {
      notices ??= new Set()
      if (notices.size < maxNotices) notices.add(FieldNames.inMessage(noticeOf(event), options.fieldNames))
    }
    const worded = ownWords?.(event) ?? event
    const noted = isRoot ? notes(worded) : nothing
    if (!isBegun) return nothing
    if (event.type === "turn-finished") {
      if (stop.stoppedBy === undefined) gap += text
      return text === "" ? noted : [...noted, ...release()]
    }
    return text === "" ? noted : [...noted, ...say(text)]
  }

  /** Returns the fields of the last part that do not depend on whether the run has an answer. */
  const reported = (failures: RunResult["failures"]) => ({
    usage: meter.sum(),
    notices: notices && [...notices],
    failedSteps: failures.length === 0 ? undefined : failures.map(failedStep)
  })

  const finish = (reason: FinishReason, { durationMillis, failures }: RunResult): Part => ({
    type: "finish",
    reason,
    durationMillis,
    stopSequence: stop.stoppedBy,
    workers: answer.workers,
    ...reported(failures)
  })

  const failing = (error: ApiError, failures: RunResult["failures"] = []): ReadonlyArray<Part> => [
    { type: "error", error, ...reported(failures) }
  ]

  const endingOf = (result: RunResult): ReadonlyArray<Part> => {
    const { ending, runId, waitingFor } = result
    if (ending === "suspended") {
      const calls = (options.isOneByOne ? waitingFor.slice(0, 1) : waitingFor).map(
        ({ call, id, worker }): Part => ({
          type: "tool-call",
          id: CallId.make(runId, id),
          name: call.name,
          arguments: call.arguments,
          by: worker
        })
      )
      return [...textPart(StopText.end(stop), speakers?.who()), ...calls, finish("tool-calls", result)]
    }
    if (ending === "answered" || (ending === "budget" && result.answer !== undefined)) {
      if (answer.isContradicted) return failing(brokenOff, result.failures)
      const rest = textPart(stop.stoppedBy === undefined ? StopText.end(stop) : "", speakers?.who())
      const reason =
        stop.stoppedBy !== undefined
          ? "stop-sequence"
          : ending === "budget"
            ? "length"
            : finishReasons[answer.finishReason]
      return [...rest, finish(reason, result)]
    }
    if (ending === "refused") {
      const said = "text" in Object(result.error) ? String((result.error as { readonly text: unknown }).text) : ""
      const text = said.trim() === "" ? (result.detail ?? "The worker declined to answer.") : said
      return answer.emitted.length > answer.from
        ? [...textPart(StopText.end(stop), speakers?.who()), finish("refusal", result)]
        : [{ type: "refusal", text, by: speakers?.who() }, finish("refusal", result)]
    }
    return failing(Failure.of(result, options.fieldNames), result.failures)
  }

  return {
    take,
    end: (result) => [...release(), ...endingOf(result)],
    stop: () => [...release(), ...failing(Failure.stopped)]
  }
}

/** Returns the parts for the events in a list of journal entries. */
export const takeAll = (parts: SegmentParts, entries: ReadonlyArray<Journal.Entry>): ReadonlyArray<Part> =>
  entries.flatMap((entry) => (entry.type === "event" ? parts.take(entry.event) : []))

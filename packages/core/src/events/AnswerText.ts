/**
 * Streams the answer of a run as text. Converts the run's events to chunks, for consumers that cannot retract text once
 * it is sent, such as HTTP responses and models of other SDKs.
 *
 * A chunk is emitted only once no later step or round can replace it. If a call fails after part of its text was
 * emitted, the text of the retry is compared with it, and only the remainder is emitted. Consumers that can retract text
 * receive the whole text of the retry instead. Text that a worker writes before a tool call is also emitted; the answer
 * follows after a blank line.
 */

import { defined } from "../Fields.ts"
import type { FinishReason } from "../task/Worker.ts"
import type { Of, RunEvent } from "./RunEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state of the stream: how much of the answer has been emitted. */
export interface AnswerText {
  readonly emitted: string
  /** Offset at which the answer starts, after any text that the worker wrote before calling a tool. */
  readonly from: number
  /**
   * Whether the run's answer differs from the emitted text, because a call failed midway and its retry returned a
   * different text.
   */
  readonly isContradicted: boolean
  /**
   * Whether this round's text is emitted before the run ends. `true` if no other round can follow and no check can
   * replace the answer.
   */
  readonly isLive: boolean
  readonly maxRounds: number
  readonly runId: string | undefined
  /**
   * Index of the step whose answer becomes the round's answer. Undefined if several steps vote, or if there is no
   * workflow yet.
   */
  readonly step: number | undefined
  /** Number of emitted characters that a retry has repeated. Undefined if nothing needs to be repeated. */
  readonly repeated: number | undefined
  /** Whether the consumer can retract the text since the last tool call. */
  readonly isRetractable: boolean
  /** Number of times that the consumer must retract the text emitted since the last tool call. */
  readonly retractions: number
  /** Ids of the workers that have answered in this run and its nested runs, in order and without duplicates. */
  readonly workers: ReadonlyArray<string>
  readonly rounds: number
  /** Finish reason of the answering step. */
  readonly finishReason: FinishReason
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the initial state.
 *
 * **Details**
 *
 * `maxRounds` is `Conductor.maxRounds`. With a single round, the answering step's text is emitted as it arrives. With
 * several rounds, a check on the answer, or steps that vote, the answer may still change, so it is emitted when the run
 * ends.
 *
 * With `isRetractable`, the text of a failed call is retracted: `retractions` increases, and the retry's text is emitted
 * in full. By default, a retry must repeat the emitted text.
 */
export const start = ({
  isRetractable = false,
  maxRounds
}: {
  readonly maxRounds: number
  readonly isRetractable?: boolean | undefined
}): AnswerText => ({
  emitted: "",
  from: 0,
  isContradicted: false,
  isLive: maxRounds === 1,
  maxRounds,
  runId: undefined,
  step: undefined,
  repeated: undefined,
  isRetractable,
  retractions: 0,
  workers: [],
  rounds: 0,
  finishReason: "stop"
})

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

type Emission = readonly [state: AnswerText, text: string]

/** Voids the text emitted since the last tool call: it is retracted, or must be repeated. */
const voided = (state: AnswerText): AnswerText =>
  state.isRetractable
    ? { ...state, emitted: state.emitted.slice(0, state.from), retractions: state.retractions + 1 }
    : { ...state, repeated: state.from }

/** Extends the emitted answer to a longer text with the same prefix, and emits the difference. */
const extend = (state: AnswerText, whole: string): Emission => {
  const { emitted, from } = state
  const known = emitted.slice(from)
  if (whole.startsWith(known)) {
    const news = whole.slice(known.length)
    return [{ ...state, emitted: emitted + news, repeated: undefined }, news]
  }
  return state.isRetractable ? extend(voided(state), whole) : [{ ...state, isContradicted: true }, ""]
}

const onDelta = (state: AnswerText, text: string): Emission => {
  const { emitted, repeated } = state
  if (repeated === undefined) return [{ ...state, emitted: emitted + text }, text]
  const known = emitted.slice(repeated, repeated + text.length)
  if (!text.startsWith(known)) return [{ ...state, isContradicted: true }, ""]
  if (known.length === text.length) return [{ ...state, repeated: repeated + text.length }, ""]
  const news = text.slice(known.length)
  return [{ ...state, emitted: emitted + news, repeated: undefined }, news]
}

/** Keeps text that precedes a tool call. Text in the wrong format is discarded, like the text of a failed call. */
const onTurn = (state: AnswerText, { error }: Of<"turn-finished">): Emission => {
  const { emitted, from } = state
  if (emitted.length === from) return [state, ""]
  if (error !== undefined) return [voided(state), ""]
  const gap = "\n\n"
  return [{ ...state, emitted: emitted + gap, from: emitted.length + gap.length, repeated: undefined }, gap]
}

/** Records which workers have answered. */
const observe = (state: AnswerText, event: Of<"step-finished" | "round-started">): AnswerText => {
  if (event.type === "round-started") return event.runId === state.runId ? { ...state, rounds: event.round + 1 } : state
  const workers = state.workers.includes(event.worker) ? state.workers : [...state.workers, event.worker]
  const isAnswer = event.runId === state.runId && event.step === state.step
  return { ...state, workers, finishReason: isAnswer ? event.finishReason : state.finishReason }
}

/** Events that neither add to the answer nor invalidate parts of it. */
type WithoutText =
  | "run-started"
  | "round-started"
  | "completion-delta"
  | "completion-finished"
  | "plan-waiting"
  | "plan-decided"
  | "step-started"
  | "step-unfolded"
  | "step-joined"
  | "tool-started"
  | "tool-progress"
  | "tool-finished"
  | "step-waiting"
  | "step-notice"
  | "call-interrupted"
  | "call-lost"
  | "step-finished"
  | "step-failed"
  | "step-skipped"
  | "check-answered"
  | "step-checked"
  | "round-revised"
  | "critic-answered"
  | "answer-graded"
  | "round-finished"

/**
 * Processes an event and returns the text that can no longer change.
 *
 * **Details**
 *
 * Events of other runs, including nested ones, emit nothing. After the last event, either the whole answer has been
 * emitted or `isContradicted` is `true`. If the run has no answer, nothing more is emitted.
 *
 * **Example**
 *
 * ```ts
 * import { AnswerText, Baselines } from "@divisi/core"
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const conductor = Conductor.make({ policy: Baselines.single(0), pool })
 * let answer = AnswerText.start(conductor)
 * const pieces: Array<string> = []
 * await Effect.runPromise(
 *   conductor.run("What is 6 times 7?", {
 *     listener: (event) => {
 *       const [next, text] = AnswerText.emit(answer, event)
 *       answer = next
 *       if (text !== "") pieces.push(text)
 *     }
 *   })
 * )
 * pieces // => ["42"]
 * ```
 */
export const emit = (before: AnswerText, event: RunEvent): Emission => {
  const state = event.type === "step-finished" || event.type === "round-started" ? observe(before, event) : before
  if (state.runId === undefined) return [{ ...state, runId: event.runId }, ""]
  if (event.runId !== state.runId || state.isContradicted) return [state, ""]
  switch (event.type) {
    case "workflow-proposed": {
      const { answer, steps } = event.workflow
      const isLive =
        state.maxRounds === 1 && steps.every(({ check }) => (check?.onFailure ?? "continue") === "continue")
      // The text of several items would be interleaved.
      const isWhole = answer !== "majority" && steps.at(-1)?.each === undefined
      return [{ ...state, isLive, step: isWhole ? steps.length - 1 : undefined }, ""]
    }
    case "step-delta": {
      const isAnswer = state.isLive && event.step === state.step && event.kind === "text"
      return isAnswer ? onDelta(state, event.text) : [state, ""]
    }
    case "turn-finished":
      return event.step === state.step ? onTurn(state, event) : [state, ""]
    case "call-failed":
    case "step-reassigned": {
      const isCheck = event.type === "call-failed" && event.by === "check"
      const isVoid = !isCheck && event.step === state.step && state.emitted.length > state.from
      return [isVoid ? voided(state) : state, ""]
    }
    case "run-finished":
      return event.answer === undefined ? [state, ""] : extend(state, event.answer)
    default:
      event.type satisfies WithoutText
      return [state, ""]
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The end
// -------------------------------------------------------------------------------------------------------------------

/** Returns a JSON summary of a finished run, for the metadata of a response. */
export const summary = ({ rounds, workers }: AnswerText, event: Of<"run-finished">) =>
  defined({
    runId: event.runId,
    ending: event.ending,
    // Omitted if undefined, because the summary is published as JSON, which cannot represent `undefined`.
    detail: event.detail,
    costUsd: event.spend.costUsd,
    unpricedCalls: event.spend.unpricedCalls,
    calls: event.spend.calls,
    rounds,
    workers: [...workers],
    durationMillis: event.durationMillis
  })

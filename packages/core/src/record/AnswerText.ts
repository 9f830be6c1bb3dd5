/**
 * The text of a run's answer as it is written: a fold of the run's events into pieces of text, for whoever shows an
 * answer that cannot be taken back once it is shown (an HTTP response, a model of another SDK).
 *
 * A piece is told only when nothing that the run still plans can replace it. Where a failed call is tried again after
 * some of its text was told, the new text is followed in silence as long as it says the same.
 */

import type { FinishReason } from "../task/Worker.ts"
import type { Of, RunEvent } from "./RunEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How far the answer of a run has been told. */
export interface AnswerText {
  readonly told: string
  /** The run answers something else than what was told: a call failed in the middle, and was answered differently. */
  readonly isContradicted: boolean
  /** Whether text is told before the run has ended. */
  readonly isLive: boolean
  readonly runId: string | undefined
  /** The step whose answer is the round's; `undefined` where several vote, or before there is a workflow. */
  readonly step: number | undefined
  /** What a call that repeats told text has said of it so far; `undefined` while there is nothing to repeat. */
  readonly repeated: string | undefined
  /** Whose answers the run has, in their order, each once; those of nested runs, too. */
  readonly workers: ReadonlyArray<string>
  readonly rounds: number
  /** Why the step that answers ended. */
  readonly finishReason: FinishReason
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Nothing told yet.
 *
 * **Details**
 *
 * `maxRounds` is the Conductor's own. With one round, the text of the step that answers is told as it comes; with more,
 * any answer may be a draft, and where steps vote nobody knows whose it is, so it is told at the end.
 */
export const start = ({ maxRounds }: { readonly maxRounds: number }): AnswerText => ({
  told: "",
  isContradicted: false,
  isLive: maxRounds === 1,
  runId: undefined,
  step: undefined,
  repeated: undefined,
  workers: [],
  rounds: 0,
  finishReason: "stop"
})

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

type Told = readonly [state: AnswerText, text: string]

/** Goes on from a text that is known to be the answer's beginning: tells what is new of it. */
const extend = (state: AnswerText, whole: string): Told => {
  if (whole.startsWith(state.told)) {
    return [{ ...state, told: whole, repeated: undefined }, whole.slice(state.told.length)]
  }
  return [{ ...state, isContradicted: true }, ""]
}

const onDelta = (state: AnswerText, text: string): Told => {
  if (state.repeated === undefined) return [{ ...state, told: state.told + text }, text]
  const repeated = state.repeated + text
  return state.told.startsWith(repeated) ? [{ ...state, repeated }, ""] : extend(state, repeated)
}

/** What an event says of who answered, and how. */
const learnt = (state: AnswerText, event: RunEvent): AnswerText => {
  if (event.type === "round-started" && event.runId === state.runId) return { ...state, rounds: event.round + 1 }
  if (event.type !== "step-finished") return state
  const workers = state.workers.includes(event.worker) ? state.workers : [...state.workers, event.worker]
  const isAnswer = event.runId === state.runId && event.step === state.step
  return { ...state, workers, finishReason: isAnswer ? event.finishReason : state.finishReason }
}

/**
 * Takes one event, and tells the text that is certain now.
 *
 * **Details**
 *
 * Events of other runs, nested ones included, tell nothing. After the last event all of the answer has been told, or
 * `isContradicted` is true; a run without an answer adds nothing to what was told.
 *
 * **Example**
 *
 * ```ts
 * import * as AnswerText from "@divisi/core/AnswerText"
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Baselines from "@divisi/core/Baselines"
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
 *       const [next, text] = AnswerText.tell(answer, event)
 *       answer = next
 *       if (text !== "") pieces.push(text)
 *     }
 *   })
 * )
 * pieces // => ["42"]
 * ```
 */
export const tell = (before: AnswerText, event: RunEvent): Told => {
  const state = learnt(before, event)
  if (state.runId === undefined) return [{ ...state, runId: event.runId }, ""]
  if (event.runId !== state.runId || state.isContradicted) return [state, ""]
  switch (event.type) {
    case "workflow-proposed": {
      const { answer, steps } = event.workflow
      return [{ ...state, step: answer === "majority" ? undefined : steps.length - 1 }, ""]
    }
    case "step-delta": {
      const isAnswer = state.isLive && event.step === state.step && event.kind === "text"
      return isAnswer ? onDelta(state, event.text) : [state, ""]
    }
    case "call-failed":
    case "step-reassigned":
      return event.step === state.step && state.told !== "" ? [{ ...state, repeated: "" }, ""] : [state, ""]
    case "run-finished":
      return event.answer === undefined ? [state, ""] : extend(state, event.answer)
    default:
      return [state, ""]
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The end
// -------------------------------------------------------------------------------------------------------------------

/** What is worth saying of a run beside its answer, as JSON: for the metadata of a response. */
export const summary = ({ rounds, workers }: AnswerText, event: Of<"run-finished">) => ({
  runId: event.runId,
  outcome: event.outcome,
  // Models publish it as JSON, whose types know no undefined.
  ...(event.detail === undefined ? {} : { detail: event.detail }),
  costUsd: event.spend.costUsd,
  unpricedCalls: event.spend.unpricedCalls,
  calls: event.spend.calls,
  rounds,
  workers: [...workers],
  durationMillis: event.durationMillis
})

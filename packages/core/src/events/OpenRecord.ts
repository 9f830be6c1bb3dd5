/** Mutable versions of the transcript models, used while events are being folded. */
import type { Paid } from "../task/Usage.ts"
import type { Item } from "./RunEvent.ts"
import type {
  CheckAnswer,
  CheckRecord,
  CompletionRecord,
  CriticAnswer,
  LostCall,
  Reassignment,
  RevisionRecord,
  RoundRecord,
  StepRecord,
  ToolRecord,
  Transcript,
  TurnRecord
} from "./Transcript.ts"

export type Mutable<A> = { -readonly [K in keyof A]: A[K] }

export interface OpenTurn extends Mutable<Omit<TurnRecord, "tools">> {
  readonly tools: Array<Mutable<ToolRecord>>
}

type StepLists = "lost" | "reassigned" | "turns" | "notices" | "checks" | "checkAnswers" | "items"

export interface OpenStep extends Mutable<Omit<StepRecord, "nested" | StepLists>> {
  readonly lost: Array<LostCall>
  readonly reassigned: Array<Reassignment>
  turns?: Array<OpenTurn>
  notices?: Array<string>
  checks?: Array<CheckRecord>
  checkAnswers?: Array<CheckAnswer>
  nested?: OpenRun
  /** Items by name, in the order in which they started. */
  items?: Map<string, OpenStep>
}

type RoundLists = "completions" | "criticAnswers" | "revisions" | "lost" | "steps"

export interface OpenRound extends Mutable<Omit<RoundRecord, RoundLists>> {
  readonly completions: Array<Mutable<CompletionRecord>>
  readonly lost: Array<LostCall>
  criticAnswers?: Array<CriticAnswer>
  revisions?: Array<RevisionRecord>
  steps: Array<OpenStep>
}

export interface OpenRun extends Mutable<Omit<Transcript, "rounds">> {
  readonly rounds: Array<OpenRound>
}

/** Returns the usage and cost of an event, as stored in its record. */
export const paidOf = ({ costUsd, usage }: Paid): Paid => ({ usage, costUsd })

/** Returns the initial record for a step or item. */
export const waiting = (
  step: number,
  worker: string
): Pick<OpenStep, "step" | "worker" | "state" | "text" | "reasoning" | "lost" | "reassigned"> => ({
  step,
  worker,
  state: "waiting",
  text: "",
  reasoning: "",
  lost: [],
  reassigned: []
})

/** Returns the record for a step's item, creating it if necessary. */
const itemOf = (whole: OpenStep, item: Item): OpenStep => {
  whole.items ??= new Map()
  const known = whole.items.get(item)
  if (known !== undefined) return known
  const begun: OpenStep = { ...waiting(whole.step, whole.worker), item }
  whole.items.set(item, begun)
  return begun
}

/** Returns the record for the step or item that an event refers to. */
export const recordAt = ({ steps }: OpenRound, step: number, item: Item | undefined): OpenStep | undefined => {
  const whole = steps[step]
  return whole === undefined || item === undefined ? whole : itemOf(whole, item)
}

/** Discards the text streamed by a failed call. */
export const discardText = (step: OpenStep): void => {
  step.text = ""
  step.reasoning = ""
}

/** Ends the suspension of a step, because it received a result, was taken over by another worker, or ended. */
export const resume = (step: OpenStep): void => {
  if (step.state !== "suspended") return
  step.state = "running"
  delete step.waitingFor
}

/** Compares two runs of one task, as plain data. */
import { Message, type Transcript, Transcript as Transcripts } from "@divisi/core"
import type { Summary } from "./Summary.ts"
import { reusedSteps } from "./Waterfall.ts"

/** Figures for a run. */
export interface Figures {
  readonly costUsd: number | undefined
  readonly millis: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly calls: number
  /** Number of steps that ran. Steps that a fork reuses did not run again. */
  readonly steps: number
}

/** Returns the figures for a run. Unknown prices are `undefined`. */
export const figuresOf = (transcript: Transcript.Transcript): Figures => {
  const { calls, costUsd, unpricedCalls, usage } = transcript.spend ?? Transcripts.spendSoFar(transcript)
  return {
    costUsd: unpricedCalls > 0 && costUsd === 0 ? undefined : costUsd,
    millis: Math.max(0, Transcripts.endOf(transcript) - transcript.startedAt),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    calls,
    steps:
      transcript.rounds.reduce(
        (sum, { steps }) => sum + steps.filter(({ state }) => state !== "skipped" && state !== "waiting").length,
        0
      ) - reusedSteps(transcript).length
  }
}

/** Returns the text of a run's question. */
export const questionOf = ({ task }: Transcript.Transcript): string =>
  Message.text(task.messages.findLast(({ role }) => role === "user"))

/**
 * Returns the workers of a run's steps, in order of their last step.
 *
 * @internal
 */
export const workersOf = ({ rounds }: Transcript.Transcript): ReadonlyArray<string> => {
  const steps = rounds.flatMap(({ steps }) => steps.filter(({ state }) => state !== "skipped"))
  return [...new Set(steps.map(({ worker }) => worker).reverse())].reverse()
}

/** Maximum length of a question in the list of a server. */
const mostListed = 200

/**
 * Returns the most expensive answered run of the same question by one worker, as the strongest one to compare with.
 * Lists of servers have only the start of a question, so a long question may only be similar: see {@link isCertain}.
 *
 * @internal
 */
export const aloneOf = (transcript: Transcript.Transcript, runs: ReadonlyArray<Summary>): Summary | undefined => {
  const question = questionOf(transcript)
  const isSame = (other: string | null) =>
    other === question || (other?.length === mostListed && question.startsWith(other))
  return runs
    .filter((run) => isSame(run.question) && run.workers.length === 1 && run.state === "answered")
    .reduce<Summary | undefined>((best, run) => (run.cost_usd > (best?.cost_usd ?? -1) ? run : best), undefined)
}

/**
 * Whether a listed run has the same question as a transcript, and not only the same start of it.
 *
 * @internal
 */
export const isCertain = (transcript: Transcript.Transcript, { question }: Summary): boolean =>
  question === questionOf(transcript)

/** A step in one run, and the step with the same number in the other run. */
export interface Pair {
  readonly name: string
  readonly one: Side | undefined
  readonly other: Side | undefined
  /** The first difference; `"only one"` if only one run has the step. */
  readonly differs: "only one" | "worker" | "subtask" | "outcome" | "answer" | undefined
}

/** A step in one of the runs. */
export interface Side {
  readonly round: number
  readonly step: number
  readonly record: Transcript.StepRecord
  readonly subtask: string
}

const sidesOf = ({ rounds }: Transcript.Transcript): ReadonlyArray<Side> =>
  rounds.flatMap(({ round, steps, workflow }) =>
    steps.map((record) => ({ round, step: record.step, record, subtask: workflow?.steps[record.step]?.subtask ?? "" }))
  )

const difference = (one: Side | undefined, other: Side | undefined): Pair["differs"] => {
  if (one === undefined || other === undefined) return "only one"
  if (one.record.worker !== other.record.worker) return "worker"
  if (one.subtask !== other.subtask) return "subtask"
  if (one.record.state !== other.record.state) return "outcome"
  return one.record.text === other.record.text ? undefined : "answer"
}

/** Pairs the steps of two runs by round and number. */
export const pairsOf = (one: Transcript.Transcript, other: Transcript.Transcript): ReadonlyArray<Pair> => {
  const key = ({ round, step }: Side) => `${round}.${step}`
  const [mine, others] = [sidesOf(one), sidesOf(other)].map((sides) => new Map(sides.map((side) => [key(side), side])))
  const order = (name: string) => name.split(".").map(Number) as [number, number]
  return [...new Set([...mine!.keys(), ...others!.keys()])]
    .sort((left, right) => order(left)[0] - order(right)[0] || order(left)[1] - order(right)[1])
    .map((name) => {
      const sides = { one: mine!.get(name), other: others!.get(name) }
      return { name, ...sides, differs: difference(sides.one, sides.other) }
    })
}

const ratioText = (ratio: number): string => (ratio < 9.95 ? ratio.toFixed(1) : `${Math.round(ratio)}`)

const timeText = (one: Figures, other: Figures): string => {
  const [faster, slower] = [Math.min(one.millis, other.millis), Math.max(one.millis, other.millis)]
  if (faster === 0 || slower / faster < 1.2) return ""
  return `, ${one.millis < other.millis ? "A" : "B"} ${ratioText(slower / faster)} times as fast`
}

const costText = (one: Figures, other: Figures): string => {
  if (one.costUsd === undefined || other.costUsd === undefined) return ""
  if (one.costUsd === other.costUsd) return `at the same cost${timeText(one, other)}`
  if (one.costUsd === 0 || other.costUsd === 0) return one.costUsd === 0 ? "and A is free" : "and B is free"
  const share = one.costUsd / other.costUsd
  const percent = 100 * share
  if (share <= 0.995) return `and A costs ${percent < 9.5 ? percent.toFixed(1) : Math.round(percent)}% as much as B`
  return share < 1.05 ? "at about the same cost" : `and A costs ${ratioText(share)} times as much as B`
}

/** Describes how two runs differ: their answers, then their cost. */
export const findingOf = (one: Transcript.Transcript, other: Transcript.Transcript): string => {
  const cost = costText(figuresOf(one), figuresOf(other))
  const outcome =
    one.answer === undefined || other.answer === undefined
      ? one.answer === other.answer
        ? "Neither run has an answer"
        : `Only ${one.answer === undefined ? "B" : "A"} has an answer`
      : one.answer.trim() === other.answer.trim()
        ? "Both runs give the same answer"
        : "The answers differ"
  return cost === "" ? outcome : `${outcome}${cost.startsWith("at ") ? " " : ", "}${cost}`
}

/** Formats the last lines of a run: how it ended, how long it took, and what it cost. */
import { StepFailure, Transcript } from "@divisi/core"
import { noSpend } from "@divisi/core/Usage"
import * as Format from "./Format.ts"
import { oneLine, type Style } from "./Line.ts"

const headings = {
  answered: { text: "✓ answered", style: "good" },
  refused: { text: "✗ refused", style: "bad" },
  budget: { text: "■ stopped by a limit", style: "busy" },
  failed: { text: "✗ failed", style: "bad" },
  interrupted: { text: "■ interrupted", style: "busy" },
  suspended: { text: "◦ suspended", style: "busy" }
} as const

/** Formats the spending: `3 calls (1 without an answer) · 180 tokens · $0.0004`. */
export const spent = (run: Transcript.Transcript): string => {
  // Live views call this for each frame, so the payments of a run in progress are collected only once.
  const payments = Transcript.payments(run)
  const { calls, costUsd, unpricedCalls, usage } = run.spend ?? payments.reduce(Transcript.withPayment, noSpend)
  const lost = payments.filter(({ calls, isLost }) => isLost && calls > 0).length
  return [
    `${Format.count(calls, "call")}${lost === 0 ? "" : ` (${lost} without an answer)`}`,
    `${Format.count(usage.inputTokens + usage.outputTokens, "token")}${usage.estimated ? " at most" : ""}`,
    Format.cost(costUsd, Transcript.isAllPlay(run.pool)),
    ...(!Transcript.isAllPlay(run.pool) && run.pool.some(({ isPlay }) => isPlay) ? ["partly play money"] : []),
    ...(unpricedCalls === 0 ? [] : [`${Format.count(unpricedCalls, "call")} of unknown price`])
  ].join(" · ")
}

const misreported = (run: Transcript.Transcript): ReadonlyArray<string> => {
  const { usage } = Transcript.spendSoFar(run)
  if (usage.misreported === undefined) return []
  return [`invalid usage was reported (${oneLine(usage.misreported)}); an estimate is used instead`]
}

/**
 * Formats the number of failed or reassigned steps, with reasons: `1 step failed (openai:gpt-6.1-sol: credentials
 * refused)`.
 */
export const failed = (run: Transcript.Transcript): ReadonlyArray<string> => {
  const summary = StepFailure.summaryOf(StepFailure.failuresOf(run))
  return summary === undefined ? [] : [oneLine(summary)]
}

/** Whether the steps of the last round already show this failure. In a log, the steps of the plan are also shown. */
const isTold = ({ rounds }: Transcript.Transcript, detail: string, isLog: boolean): boolean => {
  const { lost = [], steps = [] } = rounds.at(-1) ?? {}
  const ofSteps = steps.flatMap((step) => (step.state === "failed" ? (step.detail ?? []) : []))
  const ofPlan = isLog ? lost.flatMap(({ message }) => message ?? []) : []
  return [...ofSteps, ...ofPlan].some((told) => detail.endsWith(told))
}

/** Returns how a run ended, with a reason if necessary, and any figures that the vendor did not report. */
export const lines = (
  run: Transcript.Transcript,
  isLog = false
): ReadonlyArray<{ readonly text: string; readonly style: Style }> => {
  const { style, text } = headings[run.ending ?? "interrupted"]
  return [
    ...(run.detail === undefined || isTold(run, run.detail, isLog)
      ? []
      : [{ text: oneLine(run.detail), style: "plain" as const }]),
    ...misreported(run).map((text) => ({ text, style: "dim" as const })),
    {
      text: [
        `${text} ${run.ending === "budget" ? "after" : "in"} ${Format.duration(run.durationMillis ?? 0)}`,
        spent(run),
        ...failed(run)
      ].join(" · "),
      style
    }
  ]
}

/** Formats the usage of a run so far. */
export const running = (run: Transcript.Transcript, now: number): string =>
  `${Format.duration(Math.max(0, now - run.startedAt))} · ${spent(run)}`

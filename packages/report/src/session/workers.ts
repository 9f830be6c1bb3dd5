/** The work of each worker in a session, and its purpose. */
import { bar, row } from "../chart/Rows.ts"
import { figure, legend } from "../page/Figure.ts"
import type { Html } from "../page/Html.ts"
import { count, percent, unknown, usd } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { colourOf } from "../page/Style.ts"
import { table } from "../page/Table.ts"
import { type Figures, purposes, type WorkerFigures } from "./Session.ts"

const names = {
  plan: "plans",
  step: "steps that advise",
  answer: "steps that answer",
  judgement: "checks and critics"
} as const

const tokensOf = ({ spend: { usage } }: Pick<WorkerFigures, "spend">): number => usage.inputTokens + usage.outputTokens

const shareOf = (part: number, whole: number): number => (whole > 0 ? part / whole : 0)

const shownShare = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : unknown)

interface Part {
  readonly name: string
  readonly spend: WorkerFigures["spend"]
}

/** Cost, tokens and calls, each divided among the same parts. */
const divided = (parts: ReadonlyArray<Part>): ReadonlyArray<Html> =>
  (
    [
      ["cost", ({ spend }) => spend.costUsd],
      ["tokens", tokensOf],
      ["calls", ({ spend }) => spend.calls]
    ] as const satisfies ReadonlyArray<readonly [string, (part: Part) => number]>
  ).flatMap(([name, of]) => {
    const whole = parts.reduce((sum, part) => sum + of(part), 0)
    // Shares of zero cannot be drawn: free work has only a bar of its tokens and calls.
    if (whole === 0) return []
    const shares = parts.map((part, place) => ({
      name: part.name,
      colour: colourOf(place),
      share: shareOf(of(part), whole)
    }))
    return [row({ name, strip: bar(shares.filter(({ share }) => share > 0)) })]
  })

const spoken = (parts: ReadonlyArray<Part>): string => {
  const whole = parts.reduce((sum, { spend }) => sum + spend.costUsd, 0)
  return parts.map(({ name, spend }) => `${name} ${shownShare(spend.costUsd, whole)}`).join(", ")
}

/** Returns the section on the work of each worker, or nothing if no worker was called. */
export const workerSection = ({ spend, workers }: Figures): Html | undefined => {
  if (workers.length === 0) return undefined
  const parts = workers.map((worker) => ({ ...worker, name: worker.id }))
  return section("workers", "Who did what", [
    figure({
      legend: legend(parts.map(({ name }, place) => ({ name, colour: colourOf(place) }))),
      alternative: `Shares of the cost: ${spoken(parts)}.`,
      picture: divided(parts),
      table: table("Tokens that each worker read and wrote", workers, [
        { head: "worker", cell: ({ id }) => id },
        { head: "tokens in", cell: ({ spend: { usage } }) => count(usage.inputTokens) },
        { head: "of them cached", cell: ({ spend: { usage } }) => count(usage.cachedInputTokens ?? 0) },
        { head: "tokens out", cell: ({ spend: { usage } }) => count(usage.outputTokens) },
        { head: "of them reasoning", cell: ({ spend: { usage } }) => count(usage.reasoningTokens ?? 0) }
      ])
    }),
    table("Who did what", workers, [
      { head: "worker", cell: ({ id }) => id },
      { head: "cost", cell: ({ spend: { costUsd } }) => usd(costUsd) },
      { head: "share", cell: ({ spend: { costUsd } }) => shownShare(costUsd, spend.costUsd) },
      { head: "calls", cell: ({ spend: { calls } }) => count(calls) },
      ...purposes.map((purpose) => ({
        head: names[purpose],
        cell: ({ calls }: WorkerFigures) => count(calls[purpose])
      })),
      { head: "tools asked for", cell: ({ toolCalls }) => count(toolCalls) },
      { head: "failed or stopped", cell: ({ lostCalls }) => count(lostCalls) }
    ])
  ])
}

/** Returns the section on the purposes of calls, or nothing if no call was made. */
export const purposeSection = (figures: Figures): Html | undefined => {
  if (figures.spend.calls === 0) return undefined
  const parts = purposes.map((purpose) => ({ name: names[purpose], spend: figures.purposes[purpose] }))
  return section("purposes", "Purpose", [
    note("Everything except the answering step is orchestration: plans, advising steps, checks and critics."),
    figure({
      legend: legend(parts.map(({ name }, place) => ({ name, colour: colourOf(place) }))),
      alternative: `Shares of the cost: ${spoken(parts)}.`,
      picture: divided(parts),
      table: table("Purpose of calls", parts, [
        { head: "for", cell: ({ name }) => name },
        { head: "calls", cell: ({ spend }) => count(spend.calls) },
        { head: "tokens in", cell: ({ spend }) => count(spend.usage.inputTokens) },
        { head: "tokens out", cell: ({ spend }) => count(spend.usage.outputTokens) },
        { head: "cost", cell: ({ spend }) => usd(spend.costUsd) },
        { head: "share", cell: ({ spend }) => shownShare(spend.costUsd, figures.spend.costUsd) }
      ])
    })
  ])
}

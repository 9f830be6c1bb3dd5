/** A session compared with one strong worker: estimated from its price, and measured if the work was repeated. */
import type { Html } from "../page/Html.ts"
import { count, duration, unknown, usd } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import type { Figures, Session, Totals } from "./Session.ts"

interface Row {
  readonly name: string
  readonly costUsd: number
  readonly of?: Totals | undefined
}

const rowsOf = (figures: Figures): ReadonlyArray<Row> => {
  const { against, alone, spend } = figures
  return [
    { name: "this session", costUsd: spend.costUsd, of: figures },
    ...(alone === undefined ? [] : [{ name: "one worker, measured", costUsd: alone.spend.costUsd, of: alone }]),
    ...(against === undefined
      ? []
      : [
          {
            name: "estimated: answers at its price",
            costUsd: against.answersUsd
          },
          { name: "estimated: all tokens at its price", costUsd: against.allUsd }
        ])
  ]
}

const timesOf = (costUsd: number, ofSession: number): string =>
  ofSession > 0 ? `${(costUsd / ofSession).toFixed(2)} ×` : unknown

/** Returns the comparison, or nothing if there is no data for one. */
export const comparison = (
  { against, alone }: Pick<Session, "against" | "alone">,
  figures: Figures
): Html | undefined => {
  if (against === undefined && alone === undefined) return undefined
  return section("comparison", "Compared with one strong worker", [
    table(
      "The session compared with one worker",
      rowsOf(figures),
      [
        { head: "what", cell: ({ name }) => name },
        { head: "cost", cell: ({ costUsd }) => usd(costUsd) },
        { head: "times this session", cell: ({ costUsd }) => timesOf(costUsd, figures.spend.costUsd) },
        { head: "calls", cell: ({ of }) => count(of?.spend.calls) },
        { head: "tokens", cell: ({ of }) => count(of && of.spend.usage.inputTokens + of.spend.usage.outputTokens) },
        { head: "workers at work", cell: ({ of }) => (of === undefined ? unknown : duration(of.workedMillis)) }
      ],
      ({ of }) => of === figures
    ),
    alone !== undefined && note("Measured: the same work, repeated by one worker alone."),
    against !== undefined &&
      note(
        `Estimated, not measured: the cost of the answering steps' tokens, and of all tokens, at the price of ${against.worker} (${usd(against.pricing.inputPerMillion)} a million in, ${usd(against.pricing.outputPerMillion)} out). That worker might have written more or less, needed other turns, counted tokens differently, and answered better or worse. The answering steps have also read advice from other workers.`
      )
  ])
}

/** Formats the price of a plan as a table. */
import type { Price } from "@divisi/core"
import * as Format from "./Format.ts"
import { table } from "./Table.ts"

const row = (name: string, { calls, costUsd, tokens }: Price.Amount): ReadonlyArray<string> => [
  name,
  `${calls}`,
  `${tokens}`,
  costUsd === undefined ? "unknown" : Format.cost(costUsd)
]

/** Returns one row each for the minimum, likely and maximum price. */
export const lines = ({ least, likely, most }: Price.Price): ReadonlyArray<string> =>
  table([["price", "calls", "tokens", "cost"], row("least", least), row("likely", likely), row("most", most)]).split(
    "\n"
  )

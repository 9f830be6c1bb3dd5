/** Formats the price of a plan as a table. */
import type { Price, RunEvent } from "@divisi/core"
import * as Format from "./Format.ts"
import { clean } from "./Line.ts"
import { table } from "./Table.ts"

const row = (name: string, { calls, costUsd, tokens }: Price.Amount, isPlay: boolean): ReadonlyArray<string> => [
  name,
  `${calls}`,
  `${tokens}`,
  costUsd === undefined ? "unknown" : Format.cost(costUsd, isPlay)
]

/** Returns one row each for the minimum, likely and maximum price. */
export const lines = ({ least, likely, most }: Price.Price, isPlay: boolean): ReadonlyArray<string> =>
  table([
    ["estimate", "calls", "tokens", "cost"],
    row("least", least, isPlay),
    row("likely", likely, isPlay),
    row("most", most, isPlay)
  ]).split("\n")

/** Returns the rows for a recorded plan that is waiting for approval, or none if its price cannot be read. */
export const ofWaiting = (
  { arguments: text }: RunEvent.WaitingCall["call"],
  isPlay: boolean
): ReadonlyArray<string> => {
  try {
    return lines(JSON.parse(text).price, isPlay).map(clean)
  } catch {
    return []
  }
}

/** The solvers of all families. */
import type { AnyFamilyName } from "../Family.ts"
import { algebra } from "./algebra.ts"
import { arithmetic } from "./arithmetic.ts"
import { calendar } from "./calendar.ts"
import { logic } from "./logic.ts"
import { program } from "./program.ts"
import type { Solver } from "./reading.ts"
import { statistics } from "./statistics.ts"
import { stock } from "./stock.ts"
import { text } from "./text.ts"
import { units } from "./units.ts"

export type { Solver } from "./reading.ts"

export const solvers: { readonly [Name in AnyFamilyName]: Solver } = {
  arithmetic,
  algebra,
  units,
  calendar,
  text,
  logic,
  statistics,
  program,
  stock
}

/** Decisions on whether two answers are equal, with the rule that decided. */

/** The rule that decided. */
export type Rung =
  | "text"
  | "rational"
  | "numeric"
  | "set"
  | "tuple"
  | "interval"
  | "matrix"
  | "relation"
  | "identity"
  | "algebra"
  | "none"

/** A decision. The rung is `none` if no rule could prove that the answers are equal or different. */
export interface Decision {
  readonly correct: boolean
  readonly rung: Rung
}

export const no = (rung: Rung): Decision => ({ correct: false, rung })
export const yes = (rung: Rung): Decision => ({ correct: true, rung })
export const verdict = (correct: boolean, rung: Rung): Decision => ({ correct, rung })
export const open = no("none")

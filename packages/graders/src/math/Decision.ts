/** Whether two answers are the same, and which proof decided. */

/** What decided. */
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

/** A verdict; `none` when no rung could say that the answers are the same or that they differ. */
export interface Decision {
  readonly correct: boolean
  readonly rung: Rung
}

export const no = (rung: Rung): Decision => ({ correct: false, rung })
export const yes = (rung: Rung): Decision => ({ correct: true, rung })
export const verdict = (correct: boolean, rung: Rung): Decision => ({ correct, rung })
export const open = no("none")

/** Engines of durable runs: each executes the same plan of three steps, one after the other, with the same vendor. */

/** A call of a step. The vendor finds the run and the step in the text. */
export type Call = (text: string) => Promise<string>

export interface Place {
  /** The URL of a Postgres server. */
  readonly url: string
  readonly call: Call
  /** How many runs are executed at once. */
  readonly atOnce: number
}

/** A started engine. It executes runs by id, or resumes them, and returns their answers. */
export type Execute = (runs: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>

/** Starts an engine in this process. Runs left by a killed process are resumed. */
export type Start = (place: Place) => Promise<Execute>

export const steps = 3

export const textOf = (run: string, step: number): string => `${run}, step ${step}`

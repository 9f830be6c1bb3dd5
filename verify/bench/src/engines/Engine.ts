/** Engines for durable runs. Each executes the same plan of three consecutive steps with the same vendor. */

/** A step's call. The vendor identifies the run and the step from the text. */
export type Call = (text: string) => Promise<string>

export interface Place {
  /** The URL of a Postgres server. */
  readonly url: string
  readonly call: Call
  /** Maximum number of concurrent runs. */
  readonly atOnce: number
}

/** A started engine. Executes or resumes runs by id, and returns their answers. */
export type Execute = (runs: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>

/** Starts an engine in this process. Runs of a killed process are resumed. */
export type Start = (place: Place) => Promise<Execute>

export const steps = 3

export const textOf = (run: string, step: number): string => `${run}, step ${step}`

/** Problems of BigCodeBench: a function to complete, with the unit tests for its solution. */
import type { Task } from "@divisi/core/Task"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The data that is needed to run a solution. Workers do not see it. */
export interface BigCodeBenchProblem {
  /** The name of the function. */
  readonly entryPoint: string
  /** Imports, signature and docstring. */
  readonly prompt: string
  /** Only imports and signature, for answers without the imports. */
  readonly code: string
  /** A module with a `TestCases` class of unittest. */
  readonly test: string
  /** The body of a correct solution. */
  readonly canonicalSolution: string
  readonly libraries: ReadonlyArray<string>
}

const Record = Schema.Struct({
  entry_point: Schema.String,
  complete_prompt: Schema.String,
  code_prompt: Schema.String,
  test: Schema.String,
  canonical_solution: Schema.String,
  libs: Schema.String
})

/** A Python list of names, as text. */
const names = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/'([^']*)'|"([^"]*)"/g)].map((match) => match[1] ?? match[2] ?? "")

const problemOf = (row: typeof Record.Type): BigCodeBenchProblem => ({
  entryPoint: row.entry_point,
  prompt: row.complete_prompt,
  code: row.code_prompt,
  test: row.test,
  canonicalSolution: row.canonical_solution,
  libraries: names(row.libs)
})

/** Returns the problem in a record of the data set. Fails with a description of what is wrong with the record. */
export const fromRecord = (record: unknown): Result.Result<BigCodeBenchProblem, string> =>
  Result.mapBoth(Schema.decodeUnknownResult(Record)(record), {
    onFailure: ({ message }) => message,
    onSuccess: problemOf
  })

/** Returns the problem of a task of this benchmark; `undefined` for any other task. */
export const ofTask = (task: Task): BigCodeBenchProblem | undefined =>
  task.metadata?.bigCodeBench as BigCodeBenchProblem | undefined

/**
 * Returns the problem in a task's reference: a record of the data set as JSON. Returns `undefined` for any other
 * reference.
 */
export const ofReference = ({ reference }: Task): BigCodeBenchProblem | undefined =>
  Result.getOrUndefined(Result.map(Schema.decodeUnknownResult(Schema.fromJsonString(Record))(reference), problemOf))

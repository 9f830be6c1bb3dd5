/** BigCodeBench problems: a function to complete, with unit tests for the solution. */
import type { Task } from "@divisi/core/Task"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The data required to grade a solution. Not shown to workers. */
export interface BigCodeBenchProblem {
  /** Name of the function to implement. */
  readonly entryPoint: string
  /** Imports, signature and docstring. */
  readonly prompt: string
  /** Imports and signature only. Prepended to answers that leave out the imports. */
  readonly code: string
  /** Python module with a `TestCases` class for unittest. */
  readonly test: string
  /** Body of the reference solution. */
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

/** Parses a Python list of names from text. */
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

/** Parses a record of the dataset. Fails with a description of what is wrong with the record. */
export const fromRecord = (record: unknown): Result.Result<BigCodeBenchProblem, string> =>
  Result.mapBoth(Schema.decodeUnknownResult(Record)(record), {
    onFailure: ({ message }) => message,
    onSuccess: problemOf
  })

/** Returns the problem of a BigCodeBench task, or `undefined` for any other task. */
export const ofTask = (task: Task): BigCodeBenchProblem | undefined =>
  task.metadata?.bigCodeBench as BigCodeBenchProblem | undefined

/**
 * Parses the problem from a task's reference, which must be a dataset record as JSON. Returns `undefined` for any other
 * reference.
 *
 * @internal
 */
export const ofReference = ({ reference }: Task): BigCodeBenchProblem | undefined =>
  Result.getOrUndefined(Result.map(Schema.decodeUnknownResult(Schema.fromJsonString(Record))(reference), problemOf))

/** Evaluations performed by the commands that work on a recording. */
import * as Option from "effect/Option"
import type { EvalInput } from "../eval/flags.ts"

const none = Option.none()

/** Returns the flags of `divisi eval` with the given values. All others have their defaults. */
export const evaluationFlags = (
  given: Pick<EvalInput, "benchmark" | "policy" | "out" | "pool" | "config"> & Partial<EvalInput>
): EvalInput => ({
  price: none,
  threads: none,
  maxSteps: none,
  recursion: none,
  cache: none,
  sandbox: "pyodide",
  revision: none,
  grader: none,
  baselines: "",
  learn: none,
  learnLimit: 100,
  embeddings: none,
  profiles: none,
  offline: none,
  limit: none,
  since: none,
  until: none,
  ids: none,
  shots: none,
  shotsFrom: none,
  trained: none,
  dropOverlap: false,
  epochs: 1,
  split: none,
  format: none,
  temperature: none,
  reasoning: none,
  paper: false,
  seed: none,
  maxCost: none,
  questionCost: none,
  timeout: none,
  maxOutputTokens: none,
  concurrency: 8,
  on: none,
  retryMissing: false,
  maxMissing: 0.05,
  transcripts: false,
  json: false,
  ...given
})

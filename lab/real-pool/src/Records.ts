/** Records of the pool's calls. */

import fs from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import type { CombinedWay } from "./Combined.ts"
import type { ModelId, Way } from "./Ways.ts"

/** One call with its graded answer. */
export interface Recorded {
  readonly question: string
  readonly model: ModelId
  readonly way: Way | CombinedWay
  /** 0 is the greedy answer. */
  readonly sample: number
  readonly answer: string
  /** The answer that the grader read; absent if it found none. */
  readonly extracted?: string | undefined
  readonly correct: boolean
  /** The worker that a prompted Conductor chose; absent if it answered itself, and for other calls. */
  readonly chosen?: string | undefined
  readonly inputTokens: number
  readonly outputTokens: number
  readonly millis: number
}

export const keyOf = ({ model, question, sample, way }: Pick<Recorded, "question" | "model" | "way" | "sample">) =>
  JSON.stringify([question, model, way, sample])

/** Reads records. A last line that was cut off by a kill is dropped. */
export const readLines = (text: string): ReadonlyArray<Recorded> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line): Recorded => JSON.parse(line))

const file = fileURLToPath(new URL("../records.jsonl.gz", import.meta.url))

/** Reads the committed records. */
export const read = (): ReadonlyArray<Recorded> => readLines(gunzipSync(fs.readFileSync(file)).toString())

/** The documentation passages that the retriever found for each question. */

import fs from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import * as Questions from "./Questions.ts"

/** The result of the retriever for one question. */
export interface Found {
  readonly id: string
  /** The similarity of the best passage: the cosine of the sentence encoder's vectors. */
  readonly score: number
  /** The most similar passages, the best one first. */
  readonly passages: ReadonlyArray<string>
}

export const perQuestion = 3

export const file: string = fileURLToPath(new URL("../passages.jsonl.gz", import.meta.url))

let found: ReadonlyMap<string, Found> | undefined

/** The results of all questions. */
export const all = (): ReadonlyMap<string, Found> => {
  found ??= new Map(
    gunzipSync(fs.readFileSync(file))
      .toString()
      .trim()
      .split("\n")
      .map((line): Found => JSON.parse(line))
      .map((one) => [one.id, one])
  )
  return found
}

let most: number | undefined

/**
 * Whether a question is about the documentation: a passage is more similar to it than any passage to any question of the
 * seen kinds, none of which is about the documentation.
 */
export const isAbout = ({ id }: Questions.Question): boolean => {
  most ??= Math.max(
    ...Questions.read()
      .filter(({ kind }) => Questions.isSeen(kind))
      .map((one) => all().get(one.id)!.score)
  )
  return all().get(id)!.score > most
}

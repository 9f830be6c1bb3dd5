/**
 * The phrase lists in `words/`, without entries that contain a phrase held out by the gym. A tenth of each list is
 * excluded from training and used to choose among designs.
 */
import fs from "node:fs"
import { Reader } from "@divisi/gguf"
import * as HeldOut from "./HeldOut.ts"

/** The use of a phrase. */
export type Part = "training" | "development"

const partOf = (phrase: string): Part => (Reader.keyOf(phrase) % 10 === 0 ? "development" : "training")

/** The phrases of a file, by the word that their lines begin with. */
const read = (name: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const lines = fs
    .readFileSync(new URL(`../../words/${name}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  const found = Map.groupBy(
    lines.map((line) => line.split("\t")),
    (fields) => fields.at(-2) ?? ""
  )
  return new Map(
    [...found].map(([mark, fields]) => [mark, fields.map((one) => one.at(-1)!).filter((one) => !HeldOut.has(one))])
  )
}

const files = {
  praise: read("praise.tsv"),
  manner: read("manner.tsv"),
  topics: read("topics.tsv"),
  acts: read("acts.tsv"),
  others: read("others.txt"),
  sequels: read("sequels.tsv")
} as const

/** The phrases with a mark, or of a kind, in a file. Those of the other fields have none. */
export const of = (file: keyof typeof files, mark: string, part: Part): ReadonlyArray<string> =>
  files[file].get(mark)!.filter((phrase) => partOf(phrase) === part)

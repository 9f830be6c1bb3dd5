import { readFileSync } from "node:fs"
import path from "node:path"
import type { Report, Sample } from "@divisi/evals/Report"
import { expect } from "vitest"
import { divisi } from "./process.ts"

/** The report of an evaluation that ends well. */
export const evaluated = async (args: ReadonlyArray<string>, cwd: string): Promise<Report> => {
  const { code, errors, output } = await divisi([...args, "--json"], { cwd })
  expect({ code, errors: code === 0 ? "" : errors }).toEqual({ code: 0, errors: "" })
  return JSON.parse(output)
}

/** The samples that an evaluation has left in its folder. */
export const samplesIn = (folder: string): ReadonlyArray<Sample> =>
  readFileSync(path.join(folder, "samples.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

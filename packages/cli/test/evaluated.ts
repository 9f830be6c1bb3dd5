/** The report of an evaluation that ends well. */
import type { Report } from "@divisi/evals/Report"
import { expect } from "vitest"
import { divisi } from "./process.ts"

export const evaluated = async (args: ReadonlyArray<string>, cwd: string): Promise<Report> => {
  const { code, errors, output } = await divisi([...args, "--json"], { cwd })
  expect({ code, errors: code === 0 ? "" : errors }).toEqual({ code: 0, errors: "" })
  return JSON.parse(output)
}

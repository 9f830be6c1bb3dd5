/** The model of the benchmarks: about half a million weights, random, with the vocabulary of a small trained one. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import * as Effect from "effect/Effect"

/** Writes it to a folder that is removed when the process ends. */
export const tinyModel = async (options: Partial<TinyModel.Options> = {}): Promise<string> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bench-"))
  process.once("exit", () => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, "tiny.gguf")
  const sizes = { hiddenSize: 128, layers: 3, heads: 4, feedForwardSize: 256, contextLength: 4096 }
  const model = TinyModel.random({ architecture: "llama", seed: 1, ...sizes, ...options })
  await Effect.runPromise(Model.write(model, file))
  return file
}

/** A number of the command line, as in `--plans 200`. */
export const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}

export const print = (results: unknown): void => void process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)

export const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

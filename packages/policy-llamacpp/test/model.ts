/** Models for tests: of random weights, made when they are asked for, a few hundred KB each. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"

/** A folder of this test file, gone when it has ended. */
export const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-llamacpp-"))

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Writes a tiny model, and returns its path. */
export const tiny = async (options: Partial<TinyModel.Options> = {}, name = "tiny.gguf"): Promise<string> => {
  const file = path.join(folder, name)
  const model = TinyModel.random({ architecture: "llama", seed: 1, ...options })
  await Effect.runPromise(Model.write(model, file))
  return file
}

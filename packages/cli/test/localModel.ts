import fs from "node:fs"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import * as Effect from "effect/Effect"

/** The file of a model of a few thousand weights, in a folder. */
export const tiny = async (folder: string): Promise<string> => {
  const file = path.join(folder, "owner", "tiny.gguf")
  fs.mkdirSync(path.dirname(file))
  const model = TinyModel.random({ architecture: "llama", seed: 1, contextLength: 8192 })
  await Effect.runPromise(Model.write(model, file))
  return file
}

/** A model in place of the one that comes with the package: of random weights, with bytes for tokens. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-tiny-"))

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Its path. */
export const file: string = path.join(folder, "stand-in.gguf")

await Effect.runPromise(Model.write(TinyModel.random({ architecture: "llama", seed: 3, contextLength: 1024 }), file))

/** A training run on a server in this process, with weights that can be exported. */
import fs from "node:fs"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import { type Training as RecipeTraining, recipes } from "@divisi/recipes"
import { LocalTinkerServer } from "@divisi/testkit/engines"
import type { Engine } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Process from "./Process.ts"

const adapter = path.resolve(import.meta.dirname, "../../../../packages/trainer-tinker/test/fixtures/adapter")

/** The input of an export. */
export interface Training {
  readonly within: (disk: string) => string
  /** Trains on the first call, and copies the run to a disk. */
  readonly copyTo: (disk: string) => Promise<void>
  /** The flags that name its recipe. */
  readonly config: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

const toyEngine = Effect.promise(async () => {
  const made = (await recipes.toy.load())({ seed: 1 })
  return (made as RecipeTraining & { readonly engine: Engine }).engine
})

/** Serves it; its files lie in `root`. */
export const serve = async (root: string): Promise<Training> => {
  const scope = Scope.makeUnsafe()
  const base = path.join(root, "base.gguf")
  await Effect.runPromise(Model.write(TinyModel.random({ architecture: "llama", seed: 1 }), base))
  const key = "a-key"
  const served = LocalTinkerServer.make({
    engine: toyEngine,
    folder: path.join(root, "server"),
    baseModel: "toy",
    adapter,
    apiKey: key
  })
  const { url } = await Effect.runPromise(Effect.provideService(served, Scope.Scope, scope))
  const environment = {
    TINKER_BASE_URL: url,
    TINKER_API_KEY: key,
    TINKER_SERVER: "hosted",
    TINKER_PRICES: "0.1,0.3,0.4",
    TINKER_BASE_GGUF: base
  }
  const config = ["--config", path.resolve(import.meta.dirname, "exported.config.ts")]
  const made = path.join(root, "trained")
  let making: Promise<void> | undefined
  const train = async () => {
    const args = ["train", "--recipe", "there", "--iterations", "1", "--out", made, ...config]
    const { code, errors } = await Process.divisi(args, { environment })
    if (code !== 0) throw new Error(`divisi ${args.join(" ")}: ${errors}`)
  }
  const within = (disk: string) => path.join(disk, "trained")
  return {
    within,
    copyTo: async (disk) => {
      making ??= train()
      await making
      fs.cpSync(made, within(disk), { recursive: true })
    },
    config,
    environment,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

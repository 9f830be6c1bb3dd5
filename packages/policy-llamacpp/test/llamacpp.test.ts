import path from "node:path"
import { WorkerStream } from "@divisi/core/streams"
import type { WorkerPart } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { knownModels } from "../src/knownModels.ts"
import { llamacpp, release } from "../src/llamacpp.ts"
import { folder, tiny } from "./model.ts"

const settings = { gpu: "none", contextTokens: 256, sequences: 1, maxOutputTokens: 4 } as const

const run = (worker: ReturnType<typeof llamacpp>) =>
  Effect.map(
    Stream.runCollect(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Why?" }], seed: 1 })),
    (parts) => parts.filter((part: WorkerPart) => part.type === "finish")
  )

describe("llamacpp", () => {
  it.effect("loads its model when it is first called, says what is wrong, and tries again", () =>
    Effect.gen(function* () {
      const file = path.join(folder, "later.gguf")
      const worker = llamacpp(file, settings)
      const error = yield* Effect.flip(run(worker))
      assert.match(error.message, /later\.gguf does not exist/)
      yield* Effect.promise(() => tiny({}, "later.gguf"))
      assert.strictEqual((yield* run(worker)).length, 1)
      yield* Effect.promise(release)
      assert.strictEqual((yield* run(worker)).length, 1)
      yield* Effect.promise(release)
    })
  )

  it.effect("has a name, and says what a known model is good for", () =>
    Effect.sync(() => {
      for (const { description, name } of knownModels) {
        assert.deepInclude(llamacpp(name), { id: `llamacpp:${name}`, description })
      }
    })
  )
})

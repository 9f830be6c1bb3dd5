import { afterEach, assert, describe, it } from "vitest"
import * as LocalModels from "../src/vendors/LocalModels.ts"
import { divisi } from "./process.ts"

describe("the threads of local models", () => {
  afterEach(() => {
    delete process.env.DIVISI_THREADS
  })

  it("follow the name of a model, are in the environment, or are the model's own", () => {
    assert.deepInclude(LocalModels.named("qwen.gguf?threads=2"), { model: "qwen.gguf", threads: 2 })
    assert.deepStrictEqual(LocalModels.named("qwen.gguf+mine.gguf"), { model: "qwen.gguf+mine.gguf" })
    assert.isUndefined(LocalModels.loading().threads)
    process.env.DIVISI_THREADS = "3"
    assert.deepStrictEqual([LocalModels.loading().threads, LocalModels.loading(2).threads], [3, 2])
  })

  it("are refused if they are not a number, and so are other settings after a name", () => {
    assert.throws(() => LocalModels.named("a.gguf?threads=0"), /threads must be a whole number of at least 1/)
    assert.throws(() => LocalModels.named("a.gguf?thread=2"), /the only option after \? is threads/)
    process.env.DIVISI_THREADS = "many"
    assert.throws(() => LocalModels.loading(), /DIVISI_THREADS must be a whole number/)
  })

  it("are a flag of the commands that make models", async () => {
    const wrong = await divisi(["run", "--pool", "llamacpp:missing.gguf?thread=2", "--threads", "1", "Why?"])
    assert.strictEqual(wrong.code, 2)
    assert.match(wrong.errors, /the only option after \? is threads/)
    assert.strictEqual((await divisi(["run", "--threads", "0", "Why?"])).code, 2)
  })

  // More than llama.cpp takes, so that the refusal shows which number a model was given.
  it.each([
    ["the name of a model", ["--pool", "llamacpp:missing.gguf?threads=4096", "--threads", "4097"], {}],
    ["the flag", ["--pool", "llamacpp:missing.gguf", "--threads", "4096"], { DIVISI_THREADS: "4097" }],
    ["the environment", ["--pool", "llamacpp:missing.gguf"], { DIVISI_THREADS: "4096" }],
    ["the name of a Conductor", ["--policy", "llamacpp:missing.gguf?threads=4096"], {}]
  ] as const)("reach the model from %s", async (_, args, environment) => {
    const { errors } = await divisi(["run", "Why?", ...args], { environment })
    assert.match(errors, /"threads" must be a whole number from 1 to 1024, not 4096\./)
  })
})

/** From `divisi train` at a server of the Tinker API to an adapter for llama.cpp, as a person would come to it. */
import fs from "node:fs"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { recipes, type Training } from "@divisi/recipes"
import { LocalTinkerServer } from "@divisi/testkit/engines"
import type { Engine } from "@divisi/trainer/Engine"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { config, divisi, inFolder } from "./process.ts"

const adapter = path.resolve(import.meta.dirname, "../../trainer-tinker/test/fixtures/adapter")

const serve = (folder: string) =>
  LocalTinkerServer.make({
    engine: Effect.promise(
      async () => ((await recipes.toy.load())({ seed: 1 }) as Training & { readonly engine: Engine }).engine
    ),
    folder,
    baseModel: "toy",
    adapter,
    apiKey: "tml-key"
  })

describe("divisi train export of a run at a server", () => {
  it("writes adapters for llama.cpp and PEFT, from a restarted server", () =>
    inFolder((cwd) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const base = path.join(cwd, "base.gguf")
            yield* Model.write(TinyModel.random({ architecture: "llama", seed: 1 }), base)
            const server = yield* serve(path.join(cwd, "server"))
            const environment = {
              TINKER_BASE_URL: server.url,
              TINKER_API_KEY: "tml-key",
              TINKER_SERVER: "hosted",
              TINKER_PRICES: "0.1,0.3,0.4",
              TINKER_BASE_GGUF: base
            }
            const run = (...args: ReadonlyArray<string>) =>
              Effect.promise(() => divisi([...args, "--config", config("tinker")], { cwd, environment }))

            const trained = yield* run("train", "--recipe", "there", "--iterations", "1", "--out", "run")
            assert.strictEqual(trained.code, 0, trained.errors)
            assert.match(trained.output, /^toy: trains in run: model toy, engine tinker, /)
            assert.isAtLeast(server.counts().optim_step!, 20)
            const metrics = fs.readFileSync(path.join(cwd, "run/metrics.jsonl"), "utf8").trim().split("\n")
            assert.isTrue(metrics.every((line) => JSON.parse(line).engineCostUsd > 0))

            yield* server.restart
            const before = server.carriedOut().length
            const exported = yield* run("train", "export", "run", "--to", "gguf-lora", "--out", "lora.gguf")
            assert.strictEqual(exported.code, 0, exported.errors)
            assert.strictEqual(exported.output, "lora.gguf: toy after 21 iterations, as gguf-lora\n")
            assert.include(exported.errors, "--policy 'llamacpp:<base.gguf>+lora.gguf'`")
            const alone = yield* run("run", "Why?", "--policy", "llamacpp:lora.gguf")
            assert.include(alone.errors, "it is an adapter: put its base model before it, as in base.gguf+lora.gguf.")
            const whole1 = yield* run("run", "Why?", "--policy", "llamacpp:base.gguf+lora.gguf", "--json")
            assert.include(whole1.output, '"policy":"llamacpp:base.gguf+lora.gguf"', whole1.errors)
            const { metadata, tensors } = yield* GgufReader.read(path.join(cwd, "lora.gguf"))
            assert.deepStrictEqual(metadata["general.type"], { type: "string", value: "adapter" })
            assert.deepStrictEqual(tensors.map(({ name }) => name.replace(/^blk\.\d+\./, "")).sort(), [
              "attn_q.weight.lora_a",
              "attn_q.weight.lora_b",
              "ffn_down.weight.lora_a",
              "ffn_down.weight.lora_b"
            ])
            assert.notInclude(server.carriedOut().slice(before), "optim_step")

            const peft = yield* run("train", "export", "run", "--to", "peft", "--out", "peft")
            assert.strictEqual(peft.code, 0, peft.errors)
            assert.includeMembers(fs.readdirSync(path.join(cwd, "peft")), [
              "adapter_config.json",
              "adapter_model.safetensors"
            ])
            const whole = yield* run("train", "export", "run", "--to", "gguf", "--out", "x.gguf")
            assert.strictEqual(whole.code, 2)
            assert.include(whole.errors, "cannot export gguf. Supported formats: peft, gguf-lora.")
          })
        )
      )
    ))
})

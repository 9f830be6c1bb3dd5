import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { WholeFile } from "@divisi/files"
import { Model, Safetensors, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Adapter from "../src/Adapter.ts"
import { nameOf, rename } from "../src/internal/peft.ts"
import { adapterFolder, connect, folder, names, serve } from "./world.ts"

/** An entry of an archive, header and contents. */
const entry = (name: string, contents: Uint8Array, type = "0", link = "") => {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write("0000644\0", 100)
  header.write(`${contents.length.toString(8).padStart(11, "0")}\0`, 124)
  header.write("        ", 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write("ustar\0", 257)
  header.write("00", 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  const rest = Buffer.alloc(Math.ceil(contents.length / 512) * 512)
  Buffer.from(contents).copy(rest)
  return Buffer.concat([header, rest])
}

const file = (name: string) => fs.readFileSync(path.join(adapterFolder, name))
const both = (prefix = "") => [
  entry(`${prefix}adapter_config.json`, file("adapter_config.json")),
  entry(`${prefix}adapter_model.safetensors`, file("adapter_model.safetensors"))
]
const end = Buffer.alloc(1024)

const unpacked = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const at = yield* folder
    fs.writeFileSync(path.join(at, "archive"), bytes)
    yield* Adapter.unpack(path.join(at, "archive"), path.join(at, "out"))
    return fs.readdirSync(path.join(at, "out")).sort()
  })

describe("Adapter", () => {
  const archives: Readonly<Record<string, Uint8Array>> = {
    "gzipped, with a folder called / as SkyRL packs it": gzipSync(
      Buffer.concat([entry("/", Buffer.alloc(0), "5"), ...both(), end]),
      { level: 0 }
    ),
    "not gzipped": Buffer.concat([...both(), end]),
    "in a folder": Buffer.concat([...both("final/"), end])
  }
  for (const [what, bytes] of Object.entries(archives)) {
    it.live(`takes an adapter out of an archive: ${what}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* unpacked(bytes), ["adapter_config.json", "adapter_model.safetensors"])
      }).pipe(Effect.scoped)
    )
  }

  it.live("writes nothing that an archive would have elsewhere, and follows no links", () =>
    Effect.gen(function* () {
      const outside = entry("../adapter_config.json", Buffer.from("{}"))
      const link = entry("adapter_model.safetensors", Buffer.alloc(0), "2", "/etc/passwd")
      const error = yield* Effect.flip(unpacked(Buffer.concat([outside, link, end])))
      assert.include(error.message, "the archive is not an adapter")
    }).pipe(Effect.scoped)
  )

  it.live("says that an archive holds a whole model", () =>
    Effect.gen(function* () {
      const model = entry("model-00001-of-00002.safetensors", Buffer.alloc(8))
      const error = yield* Effect.flip(unpacked(Buffer.concat([model, end])))
      assert.include(error.message, "a whole model")
    }).pipe(Effect.scoped)
  )

  it("gives matrices the names that PEFT knows", () => {
    assert.strictEqual(
      nameOf("layers.0.mlp.experts.3.up_proj.lora_A"),
      "base_model.model.layers.0.mlp.experts.3.up_proj.lora_A.weight"
    )
    assert.strictEqual(
      nameOf("base_model.model.model.unembed_tokens.lora_B.weight"),
      "base_model.model.lm_head.lora_B.weight"
    )
  })

  it.live("renames matrices without touching their numbers", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const [from, to] = [path.join(adapterFolder, "adapter_model.safetensors"), path.join(at, "renamed.safetensors")]
      yield* WholeFile.writeWith(to, (sink) => rename(from, sink, (name) => name.replace("q_proj", "renamed")))
      const [before, after] = [yield* Safetensors.read(from), yield* Safetensors.read(to)]
      assert.deepStrictEqual(
        Object.keys(after.tensors),
        Object.keys(before.tensors).map((name) => name.replace("q_proj", "renamed"))
      )
      const numbers = (tensor: Safetensors.StoredTensor) =>
        Effect.promise(async () => {
          const all: Array<number> = []
          for await (const part of tensor.data()) all.push(...part)
          return all
        })
      for (const [name, tensor] of Object.entries(before.tensors)) {
        assert.deepStrictEqual(
          yield* numbers(after.tensors[name.replace("q_proj", "renamed")]!),
          yield* numbers(tensor)
        )
      }
    }).pipe(Effect.scoped)
  )

  for (const name of names.filter((one) => one !== "skyrl-fsdp")) {
    it.live(`${name}: exports what was trained for PEFT and for llama.cpp, without its key`, () =>
      Effect.gen(function* () {
        const at = yield* folder
        const base = path.join(at, "base.gguf")
        yield* Model.write(TinyModel.random({ architecture: "llama", seed: 1 }), base)
        const server = yield* serve({ dialect: name, adapter: adapterFolder, apiKey: "tml-key" })
        const engine = yield* connect(server, {
          dialect: name,
          apiKey: Redacted.make("tml-key"),
          baseModel: "toy",
          baseGguf: base
        })
        yield* engine.export("peft", path.join(at, "peft"))
        const config = JSON.parse(fs.readFileSync(path.join(at, "peft", "adapter_config.json"), "utf8"))
        assert.deepStrictEqual(config.target_modules, ["down_proj", "q_proj"])
        assert.strictEqual(config.task_type, "CAUSAL_LM")
        assert.strictEqual(config.base_model_name_or_path, "toy")
        yield* engine.export("gguf-lora", path.join(at, "adapter.gguf"))
        const written = yield* GgufReader.read(path.join(at, "adapter.gguf"))
        assert.strictEqual(written.tensors.length, 4)
      }).pipe(Effect.scoped)
    )
  }

  it.live("sends no key to where an archive lies", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const seen: Array<http.IncomingHttpHeaders> = []
      const server = http.createServer((request, response) => {
        seen.push(request.headers)
        if (request.url === "/first") response.writeHead(302, { location: "/second" }).end()
        else response.end(Buffer.concat([...both(), end]))
      })
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const { port } = server.address() as AddressInfo
      yield* Adapter.download({ url: `http://127.0.0.1:${port}/first`, folder: path.join(at, "out"), baseModel: "m" })
      server.close()
      assert.strictEqual(seen.length, 2)
      for (const headers of seen) assert.notProperty(headers, "x-api-key")
    }).pipe(Effect.scoped)
  )
})

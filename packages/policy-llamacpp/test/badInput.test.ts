/** The possible faults of a model, an adapter or a machine, and the one message for each. */

import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { WorkerStream } from "@divisi/core/streams"
import { LoraAdapter } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { getLlama } from "node-llama-cpp"
import * as Backend from "../src/internal/backend.ts"
import type { LlamaCppError } from "../src/LlamaCppError.ts"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { folder, tiny } from "./model.ts"

const whole = await tiny()

/** A file that differs from the whole one. */
const changed = (name: string, change: (bytes: Buffer) => Buffer): string => {
  const file = path.join(folder, name)
  fs.writeFileSync(file, change(fs.readFileSync(whole)))
  return file
}

/** Replaces the first occurrence of some bytes by others of the same length. */
const overwrite = (from: string, to: string) => (bytes: Buffer) => {
  const at = bytes.indexOf(from)
  assert.isAbove(at, 0)
  assert.strictEqual(from.length, to.length)
  bytes.write(to, at, "latin1")
  return bytes
}

const settings = { gpu: "none", contextTokens: 512, sequences: 1 } as const

const failure = (options: Partial<LlamaCppModel.Options>) =>
  Effect.flip(Effect.scoped(LlamaCppModel.load({ source: whole, ...settings, ...options })))

const linear = { a: { shape: [2, 32], data: new Float32Array(64) }, b: { shape: [32, 2], data: new Float32Array(64) } }

/** An adapter of a model of other sizes, or of another architecture. */
const adapterOf = Effect.fnUntraced(function* (base: string, name: string) {
  const file = path.join(folder, name)
  const changes = { "model.layers.0.self_attn.q_proj": { ...linear, alpha: 2 } }
  yield* LoraAdapter.write({ changes }, file, { base: yield* GgufReader.read(base) })
  return file
})

describe("bad input", () => {
  it.effect("a file that is missing, or not a model", () =>
    Effect.gen(function* () {
      const missing = path.join(folder, "missing.gguf")
      assert.strictEqual(
        (yield* failure({ source: missing })).message,
        `${missing} does not exist on this machine. Check the path, or download a model from \`divisi models list\`.`
      )
      fs.writeFileSync(path.join(folder, "page.gguf"), "<html>Not here</html>")
      assert.match(
        (yield* failure({ source: path.join(folder, "page.gguf") })).message,
        /incomplete or damaged: it does not begin with "GGUF"/
      )
      fs.mkdirSync(path.join(folder, "folder.gguf"))
      assert.match(
        (yield* failure({ source: path.join(folder, "folder.gguf") })).message,
        /incomplete or damaged: .*(folder|directory)/
      )
    })
  )

  it.effect("a file that breaks off, in its weights or in its header", () =>
    Effect.gen(function* () {
      const size = fs.statSync(whole).size
      for (const length of [size - 1000, 2000, 30, 5]) {
        const error = yield* failure({ source: changed(`cut ${length}.gguf`, (bytes) => bytes.subarray(0, length)) })
        assert.strictEqual(error.reason._tag, "Damaged", error.message)
        assert.match(error.message, /the GGUF file is incomplete or damaged: .+\. Download or create it again\./)
      }
    })
  )

  it.effect("a file whose header contradicts itself", () =>
    Effect.gen(function* () {
      const source = changed("corrupt.gguf", overwrite("llama.block_count", "llama.black_count"))
      assert.strictEqual((yield* failure({ source })).reason._tag, "Damaged")
      const garbled = changed("garbled.gguf", (bytes) =>
        Buffer.concat([bytes.subarray(0, 24), Buffer.alloc(4000, 0xff)])
      )
      assert.strictEqual((yield* failure({ source: garbled })).reason._tag, "Damaged")
    })
  )

  it.effect(
    "a header that promises more than there is, a version or an order of bytes that is not read, and a pipe",
    () =>
      Effect.gen(function* () {
        const preamble = (version: number, tensors: bigint, values: bigint) => () => {
          const bytes = Buffer.alloc(1000)
          bytes.write("GGUF")
          bytes.writeUInt32LE(version, 4)
          bytes.writeBigUInt64LE(tensors, 8)
          bytes.writeBigUInt64LE(values, 16)
          return bytes
        }
        const message = (name: string, ...counts: Parameters<typeof preamble>) =>
          Effect.map(failure({ source: changed(name, preamble(...counts)) }), (error) => error.message)
        assert.match(
          yield* message("tensors.gguf", 3, 2n ** 63n, 0n),
          /it declares 9223372036854776000 tensors .*more than bytes/
        )
        assert.match(yield* message("values.gguf", 3, 0n, 2n ** 63n), /9223372036854776000 values, more than bytes/)
        assert.match(yield* message("old.gguf", 1, 0n, 0n), /version 1, not 2 or 3\. Use a little-endian GGUF/)
        assert.match(yield* message("swapped.gguf", 0x03000000, 0n, 0n), /big-endian GGUF file\. Use a little-endian/)
        const parts = changed("parts-00001-of-00002.gguf", (bytes) => bytes)
        assert.match((yield* failure({ source: parts })).message, /parts-00002-of-00002\.gguf does not exist/)
        const pipe = path.join(folder, "pipe.gguf")
        execFileSync("mkfifo", [pipe])
        assert.match((yield* failure({ source: pipe })).message, /it is a folder, a pipe or a device/)
        assert.match((yield* failure({ adapters: [{ path: pipe }] })).message, /it is a folder, a pipe or a device/)
      })
  )

  it.effect("an unknown architecture", () =>
    Effect.gen(function* () {
      const source = changed("unknown.gguf", overwrite("llama", "lloma"))
      const error = yield* failure({ source })
      assert.match(error.message, /llama\.cpp cannot run the architecture "lloma" \(.+\)\. Use another model/)
    })
  )

  it.effect("a tokenizer without an end, or without what a workflow is written with", () =>
    Effect.gen(function* () {
      const endless = changed("endless.gguf", overwrite("ggml.eos_token_id", "ggml.xxx_token_id"))
      assert.match(
        (yield* failure({ source: endless })).message,
        /the tokenizer is incomplete: it has no token that ends a text/
      )
      // The token of the bracket becomes one of a character that no text has.
      const token = (text: string) => `\u0001${"\u0000".repeat(7)}${text}`
      const speechless = changed("speechless.gguf", overwrite(token("["), token("\u007f")))
      const model = yield* LlamaCppModel.load({ source: speechless, ...settings })
      const format = { type: "workflow", poolSize: 2, maxSteps: 2, access: "binary", allowEmpty: false } as const
      const request = { messages: [{ role: "user" as const, content: "Plan." }], format }
      const refused = yield* Effect.flip(Stream.runDrain(WorkerStream.generate(LlamaCppModel.worker(model), request)))
      assert.match(refused.message, /no tokens for the brackets and quotes of a workflow/)
    })
  )

  it.effect("an adapter that is missing, invalid, or for another base", () =>
    Effect.gen(function* () {
      const load = (adapter: string) => Effect.map(failure({ adapters: [{ path: adapter }] }), ({ message }) => message)
      assert.match(yield* load(path.join(folder, "none.gguf")), /none\.gguf cannot be used \(there is no such file\)/)
      assert.match(
        yield* load(whole),
        /cannot be used \(it is a model, not an adapter\)\. Train it for this base model/
      )
      const narrow = yield* Effect.promise(() => tiny({ hiddenSize: 32 }, "narrow.gguf"))
      assert.match(yield* load(yield* adapterOf(narrow, "narrow-adapter.gguf")), /narrow-adapter\.gguf cannot be used/)
      const qwen = yield* Effect.promise(() => tiny({ architecture: "qwen2", hiddenSize: 32 }, "qwen.gguf"))
      const other = yield* adapterOf(qwen, "qwen-adapter.gguf")
      assert.match(yield* load(other), /cannot be used \(its base is qwen2, but this model is llama\)/)
    })
  )

  it.effect("too little memory: how much is needed, and what to lower", () =>
    Effect.gen(function* () {
      const error = yield* failure({ contextTokens: 2 ** 30, sequences: 64 })
      assert.strictEqual(error.reason._tag, "Memory")
      assert.match(
        error.message,
        /[\d.]+ TiB of main memory are needed and [\d.]+ GiB are free: lower contextTokens or sequences/
      )
    })
  )

  it.effect("settings that are not usable numbers", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* failure({ sequences: 0 })).message,
        /"sequences" must be a whole number from 1 to 65536, not 0/
      )
      assert.match(
        (yield* failure({ threads: 1.5 })).message,
        /"threads" must be a whole number from 1 to 1024, not 1.5/
      )
      const model = yield* LlamaCppModel.load({ source: whole, ...settings })
      const asked = WorkerStream.generate(LlamaCppModel.worker(model), { messages: [], temperature: -1 })
      const error = yield* Effect.flip(Stream.runDrain(asked))
      assert.match(error.message, /cannot handle the request: temperature is -1/)
    })
  )

  it.live("a machine without llama.cpp, and a GPU that does not start", () =>
    Effect.gen(function* () {
      const none: Backend.Loader = { platform: "plan9 mips", getLlama: () => Promise.reject(new Error("no binary")) }
      const onlyProcessor: Backend.Loader = {
        platform: "linux x64",
        getLlama: ((options: { readonly gpu: unknown }) =>
          options.gpu === false
            ? getLlama({ gpu: false, build: "never" })
            : Promise.reject(new Error("no driver"))) as Backend.Loader["getLlama"]
      }
      const open = (...args: Parameters<typeof Backend.open>) =>
        Effect.tryPromise({ try: () => Backend.open(...args), catch: (cause) => cause as LlamaCppError })
      const binary = yield* Effect.flip(open("auto", false, none))
      assert.match(
        binary.message,
        /^llama\.cpp is not available for plan9 mips \(no binary\)\. Install node-llama-cpp with its optional/
      )
      const { llama, notice } = yield* open("cuda", false, onlyProcessor)
      assert.isFalse(llama.gpu)
      assert.strictEqual(notice, 'The GPU backend "cuda" does not start (no driver); the model runs on the CPU.')
      const required = yield* Effect.flip(open("cuda", true, onlyProcessor))
      assert.match(required.message, /the GPU backend "cuda" does not start \(no driver\)\. Install its driver/)
    })
  )
})

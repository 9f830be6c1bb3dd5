/**
 * How fast models are written, and in how much memory: prints one line of JSON.
 *
 * `pnpm bench [gigabytes] [F32|F16] [folder]` writes a qwen2 model of about that size, of numbers that are made while it
 * is written, removes it, and compares with writing as many bytes without a format.
 */

import fs from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { Model, Tensor } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"

const [gigabytes = "1", type = "F32", folder = os.tmpdir()] = process.argv.slice(2)

/** Sizes of Qwen2.5-7B, with as many layers as the size asks for. */
const shape = {
  architecture: "qwen2",
  vocabularySize: 16_384,
  hiddenSize: 3584,
  heads: 28,
  keyValueHeads: 4,
  feedForwardSize: 18_944,
  contextLength: 32_768,
  normEpsilon: 1e-6,
  ropeTheta: 1_000_000
} as const

const sizeOf = (config: Model.Config) =>
  Object.values(Model.shapes(config)).reduce((sum, shape) => sum + Tensor.size(shape), 0)

const bytesPerNumber = type === "F16" ? 2 : 4
const withoutLayers = sizeOf({ ...shape, layers: 0 })
const perLayer = sizeOf({ ...shape, layers: 1 }) - withoutLayers
const layers = Math.max(1, Math.round(((Number(gigabytes) * 1e9) / bytesPerNumber - withoutLayers) / perLayer))
const config: Model.Config = { ...shape, layers }

const piece = Float32Array.from({ length: 1 << 18 }, (_, index) => Math.sin(index) / 64)

/** A tensor of a quarter of a million numbers, again and again. */
const generated = (shape: ReadonlyArray<number>): Tensor.Tensor => ({
  shape,
  data: function* () {
    for (let left = Tensor.size(shape); left > 0; left -= piece.length) yield piece.subarray(0, left)
  }
})

const model: Model.Model = {
  config,
  tokenizer: Tokenizer.makeUnsafe(),
  tensors: Object.fromEntries(Object.entries(Model.shapes(config)).map(([name, shape]) => [name, generated(shape)]))
}

/** Memory is looked at while `run` runs; the most that was seen, in MB above what there was before. */
const measured = async <A>(run: () => Promise<A>) => {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const start = performance.now()
  const value = await run()
  const seconds = (performance.now() - start) / 1000
  clearInterval(timer)
  return { value, seconds, extraMegabytes: Math.round((peak - before) / 1e6) }
}

/** As many bytes without a format, in pieces of a megabyte. */
const plain = async (file: string, bytes: number) => {
  const handle = await fs.open(file, "w")
  for (let left = bytes; left > 0; left -= 1 << 20)
    await handle.write(new Uint8Array(piece.buffer), 0, Math.min(left, 1 << 20))
  await handle.sync()
  await handle.close()
}

const own = await fs.mkdtemp(path.join(folder, "divisi-bench-"))
const file = path.join(own, "model.gguf")
try {
  const write = Model.write(model, file, { type: type === "F16" ? "F16" : "F32" })
  const ours = await measured(() => Effect.runPromise(write))
  await fs.rm(file)
  const bare = await measured(() => plain(file, ours.value.bytes))
  const rate = (seconds: number) => Math.round(ours.value.bytes / 1e6 / seconds)
  const report = {
    type,
    layers,
    bytes: ours.value.bytes,
    megabytesPerSecond: rate(ours.seconds),
    bareMegabytesPerSecond: rate(bare.seconds),
    extraMegabytes: ours.extraMegabytes
  }
  process.stdout.write(`${JSON.stringify(report)}\n`)
} finally {
  await fs.rm(own, { recursive: true, force: true })
}

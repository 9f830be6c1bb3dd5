/**
 * Compares a thread's tasks on a GPU, by jax-js's WebGPU, with WebAssembly on one processor: the speed of the same
 * passes and samples, and the difference of their gradients. WebGPU is not part of Node; a package adds it.
 *
 *     npm install webgpu --prefix /tmp/webgpu
 *     node --conditions=@divisi/source packages/trainer-jax/bench/webgpu.ts \
 *       --webgpu /tmp/webgpu/node_modules/webgpu/index.js [--size 128x3] [--groups 4] [--tokens 1024] [--devices wasm,webgpu]
 */
import { pathToFileURL } from "node:url"
import * as Batch from "../src/internal/batch.ts"
import { initial } from "../src/internal/initial.ts"
import * as Instances from "../src/internal/instances.ts"
import * as State from "../src/internal/state.ts"
import * as ThreadTask from "../src/internal/threadTask.ts"
import { configOf, load, number, print, text, tokens } from "./options.ts"

type Device = "wasm" | "webgpu"

const size = text("size", "128x3")
const groups = number("groups", 4)
const passes = number("passes", 3)
const devices = text("devices", "wasm,webgpu").split(",") as ReadonlyArray<Device>
const limits = { bytes: number("bytes", 5e8), tokens: number("tokens", 1024), completions: 16 }
const vocabularySize = 1000
const [promptTokens, completions, completionTokens] = [256, 16, 48]
const config = configOf(size, vocabularySize)

/** Gives this process the `navigator.gpu` of a browser, and says which GPU it is. */
const openGpu = async (file: string): Promise<unknown> => {
  const { create, globals } = await import(file.startsWith("/") ? pathToFileURL(file).href : file)
  Object.assign(globalThis, globals)
  const gpu = create([])
  Object.defineProperty(navigator, "gpu", { value: gpu })
  const { architecture, description, device, vendor } = (await gpu.requestAdapter())?.info ?? {}
  return { vendor, architecture, device, description }
}

const data = Array.from({ length: groups }, (_, group) => {
  const prompt = tokens(promptTokens, group, vocabularySize)
  return Array.from({ length: completions }, (_, place) => {
    const completion = tokens(completionTokens, group * 100 + place, vocabularySize)
    return { prompt, completion, advantages: completion.map(() => 0.5), logProbs: completion.map(() => -7) }
  })
}).flat()

const batches = Batch.plan(config, data, limits).map((batch) => {
  return { shape: batch.shape, tables: Batch.tablesOf(data, batch) }
})
const learned = data.length * completionTokens
const { snapshot } = State.make(config, initial(config, 1))
const loss = { loss: { name: "clippedRatio", entropy: false }, settings: [0.8, 1.2, 0] } as const
const parts = Array.from({ length: groups }, (_, place) => {
  return { prompt: tokens(200, place, 250), count: 16, maxTokens: completionTokens, seed: place * 100 }
})

const secondsOf = async (run: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await run()
  return (performance.now() - start) / 1000
}

/** The least of some times, after one that compiles. */
const measure = async (tokens: number, run: () => Promise<unknown>) => {
  const first = await secondsOf(run)
  const times: Array<number> = []
  for (let pass = 0; pass < passes; pass++) times.push(await secondsOf(run))
  return { "tokens per second": Math.round(tokens / Math.min(...times)), "first, seconds": Number(first.toFixed(2)) }
}

const jax = await import("@jax-js/jax")

const onDevice = async (device: Device) => {
  jax.defaultDevice(device)
  const memory = ThreadTask.make(jax)
  const ask = <A extends ThreadTask.Task>(task: A) => {
    const weights = memory.weights.has(snapshot.id) ? undefined : snapshot
    return ThreadTask.run(memory, { id: snapshot.id, weights, forget: [], task }) as Promise<
      ThreadTask.Results[A["type"]]
    >
  }
  const gradient = new Float64Array(snapshot.numbers.length)
  const learn = async () => {
    gradient.fill(0)
    for (const batch of batches) {
      const found = await ask({ type: "backward", ...loss, ...batch })
      for (let at = 0; at < gradient.length; at++) gradient[at]! += found.gradient[at]!
    }
  }
  const forward = async () => {
    for (const batch of batches) await ask({ type: "forward", ...batch })
  }
  let samples: unknown
  const sample = async () => {
    const found = []
    for (const part of parts) found.push(await ask({ type: "sample", parts: [part], endToken: -1 }))
    samples = found.flat(2).map(({ tokens }) => tokens)
  }
  const learning = await measure(learned, learn)
  const before = gradient.slice()
  await learn()
  const report = {
    learning,
    "log-probabilities alone": await measure(learned, forward),
    sampling: await measure(learned, sample),
    "gradients are the same bits again": gradient.every((value, at) => value === before[at])
  }
  return { report, gradient, samples: JSON.stringify(samples) }
}

const norm = (values: Float64Array): number => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0))

WebAssembly.Instance = Instances.keeping(WebAssembly.Instance)
const gpu = devices.includes("webgpu") ? await openGpu(text("webgpu", "webgpu")) : undefined
const present = await jax.init(...devices)
const missing = devices.filter((device) => !present.includes(device))
if (missing.length > 0) throw new Error(`There is no ${missing.join(" and no ")} here.`)

const found: Array<Awaited<ReturnType<typeof onDevice>>> = []
for (const device of devices) found.push(await onDevice(device))
const [first, second] = found
print({
  size,
  groups,
  "tokens of a pass": batches.map(({ shape }) => Batch.tokensOf(shape)),
  gpu,
  load: load(),
  ...Object.fromEntries(devices.map((device, index) => [device, found[index]!.report])),
  ...(second && {
    "distance of the gradients over their norm":
      norm(first!.gradient.map((value, at) => value - second.gradient[at]!)) / norm(first!.gradient),
    "samples are equal": first!.samples === second.samples
  })
})
// The GPU's device would keep the process.
process.exit(0)

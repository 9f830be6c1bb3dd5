/**
 * Measures the overhead of the engine: the share of a pass spent on matrix products, and their speed in billion
 * operations a second.
 *
 *     node --conditions=@divisi/source packages/trainer-jax/bench/profile.ts [--size 128x3] [--sample]
 */
import * as Batch from "../src/internal/batch.ts"
import * as Initial from "../src/internal/initial.ts"
import * as Library from "../src/internal/library.ts"
import * as State from "../src/internal/state.ts"
import * as ThreadTask from "../src/internal/threadTask.ts"
import { configOf, load, number, print, text, tokens } from "./options.ts"

const jax = await Library.load()
const [size, passes, vocabularySize] = [text("size", "128x3"), number("passes", 12), 1000]
const config = configOf(size, vocabularySize)
const { snapshot } = State.make(config, Initial.initial(config, 1))
const memory = ThreadTask.make(jax)

/** A group of `throughput.ts`. */
const learning = (): ThreadTask.Task => {
  const data = Array.from({ length: 16 }, (_, place) => {
    const completion = tokens(48, 100 + place, vocabularySize)
    const prompt = tokens(256, 1, vocabularySize)
    return { prompt, completion, advantages: completion.map(() => 0.5), logProbs: completion.map(() => -7) }
  })
  const [batch] = Batch.plan(config, data, { bytes: 1e9, tokens: 4096, completions: 64 })
  const tables = Batch.tablesOf(data, batch!)
  const loss = { name: "clippedRatio", entropy: false } as const
  return { type: "backward", shape: batch!.shape, tables, loss, settings: [0.8, 1.2, 0] }
}

/** Four of the requests of `sampling.ts`. */
const sampling = (): ThreadTask.Task => {
  const parts = Array.from({ length: 4 }, (_, place) => {
    return { prompt: tokens(200, place, 250), count: 16, maxTokens: 48, seed: place }
  })
  return { type: "sample", parts, endToken: -1 }
}

const task = process.argv.includes("--sample") ? sampling() : learning()
const pass = () => {
  const weights = memory.weights.has(snapshot.id) ? undefined : snapshot
  return ThreadTask.run(memory, { id: snapshot.id, weights, forget: [], task })
}

/** A kernel's least time, its calls in a pass, and its operations. */
const kernels = new Map<string, { least: number; calls: number; operations: number }>()

const trace = async () => {
  jax.profiler.startTrace()
  await pass()
  jax.profiler.stopTrace()
  for (const one of kernels.values()) one.calls = 0
  for (const { detail, duration, name } of performance.getEntriesByType("measure") as Array<PerformanceMeasure>) {
    const { exp = "", reduction = "", size = 0 } = Object.fromEntries(detail?.devtools?.properties ?? [])
    const operations = 2 * Number(size) * Number(reduction.split(":")[1] ?? 0)
    const key = `${name} ${reduction} ${exp}`
    // A product is a sum of products of two arrays, with no more to each of them.
    const isProduct = reduction.startsWith("Add") && /^\(GV_\d+<[^*]*\] \* GV_\d+<[^*]*\]\)$/.test(exp)
    const one = kernels.get(key) ?? { least: Infinity, calls: 0, operations: isProduct ? operations : 0 }
    kernels.set(key, { ...one, least: Math.min(one.least, duration), calls: one.calls + 1 })
  }
  performance.clearMeasures()
}

for (let warm = 0; warm < passes; warm++) await pass()
const cpu = process.cpuUsage()
for (let time = 0; time < passes; time++) await pass()
const { system, user } = process.cpuUsage(cpu)
for (let time = 0; time < passes; time++) await trace()

const all = [...kernels.values()]
const products = all.filter(({ operations }) => operations > 0)
const inProducts = products.reduce((sum, { calls, least }) => sum + calls * least, 0)
const operations = products.reduce((sum, one) => sum + one.calls * one.operations, 0)
print({
  size,
  task: task.type,
  "processor milliseconds of a pass": Math.round((system + user) / 1000 / passes),
  "of these in products of matrices": Math.round(inProducts),
  "products, billion operations": Number((operations / 1e9).toFixed(2)),
  "products, billion operations per second": Number((operations / inProducts / 1e6).toFixed(1)),
  "calls of kernels": all.reduce((sum, { calls }) => sum + calls, 0),
  load: load()
})

/** The benchmarks that have a name, for command lines that say which one they want. */
import * as Aime25 from "./Aime25.ts"
import type { Benchmark } from "./Benchmark.ts"
import * as BigCodeBenchHard from "./BigCodeBenchHard.ts"
import * as GpqaDiamond from "./GpqaDiamond.ts"
import * as Gsm8k from "./Gsm8k.ts"
import * as LiveCodeBench from "./LiveCodeBench.ts"
import * as Math500 from "./Math500.ts"
import * as Mmlu from "./Mmlu.ts"
import * as Rlpr from "./Rlpr.ts"

const slices = LiveCodeBench.release("v6")

const makers: ReadonlyMap<string, () => Benchmark> = new Map([
  ["math500", () => Math500.make()],
  ["mmlu", () => Mmlu.make()],
  ["rlpr", () => Rlpr.make()],
  ["rlpr-paper", () => Rlpr.make({ rule: "paper" })],
  ["rlpr-strict", () => Rlpr.make({ rule: "strict" })],
  ["gpqa-diamond", () => GpqaDiamond.make()],
  ["aime25", () => Aime25.make()],
  ["bigcodebench-hard", () => BigCodeBenchHard.make()],
  ["gsm8k", () => Gsm8k.make()],
  ...slices.map((slice) => [`livecodebench-${slice}`, () => LiveCodeBench.make({ slices: [slice] })] as const)
])

/** The names there are. */
export const names: ReadonlyArray<string> = [...makers.keys()]

/**
 * The benchmark of a name; `undefined` when there is none.
 *
 * **Example**
 *
 * ```ts
 * import * as Benchmark from "@tutti/evals/Benchmark"
 * import * as Benchmarks from "@tutti/evals/Benchmarks"
 *
 * const gpqa = Benchmarks.named("gpqa-diamond")
 * gpqa?.isGated // => true
 * Benchmarks.named("vibes") // => undefined
 * ```
 */
export const named = (name: string): Benchmark | undefined => makers.get(name)?.()

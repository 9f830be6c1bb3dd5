/** The benchmarks that have a name, for command lines that say which one they want. */

import { CodeGrader } from "@divisi/graders/code"
import type { Sandbox } from "@divisi/graders/Sandbox"
import { Sandboxes } from "@divisi/graders/sandboxes"
import * as Aime25 from "./Aime25.ts"
import { type Graded, withGrader } from "./Benchmark.ts"
import * as BigCodeBenchHard from "./BigCodeBenchHard.ts"
import * as GpqaDiamond from "./GpqaDiamond.ts"
import * as Gsm8k from "./Gsm8k.ts"
import * as LiveCodeBench from "./LiveCodeBench.ts"
import * as Math500 from "./Math500.ts"
import * as Mmlu from "./Mmlu.ts"
import * as Rlpr from "./Rlpr.ts"

const slices = LiveCodeBench.release("v6")

const makers: ReadonlyMap<string, (sandbox: Sandbox) => Graded> = new Map<string, (sandbox: Sandbox) => Graded>([
  ["math500", () => Math500.make()],
  ["mmlu", () => Mmlu.make()],
  ["rlpr", () => Rlpr.make()],
  ["rlpr-paper", () => Rlpr.make({ rule: "paper" })],
  ["rlpr-strict", () => Rlpr.make({ rule: "strict" })],
  ["gpqa-diamond", () => GpqaDiamond.make()],
  ["aime25", () => Aime25.make()],
  ["bigcodebench-hard", (sandbox) => withGrader(BigCodeBenchHard.make(), CodeGrader.bigCodeBench(sandbox))],
  ["gsm8k", () => Gsm8k.make()],
  ...slices.map(
    (slice) =>
      [
        `livecodebench-${slice}`,
        (sandbox: Sandbox) => withGrader(LiveCodeBench.make({ slices: [slice] }), CodeGrader.liveCodeBench(sandbox))
      ] as const
  )
])

/** Every name that {@link named} knows. */
export const names: ReadonlyArray<string> = [...makers.keys()]

/**
 * The benchmark of a name with its grader; `undefined` when there is none. Programs run in the sandbox; the default is
 * one that all share (`Sandboxes.shared`).
 *
 * **Example**
 *
 * ```ts
 * import * as Benchmark from "@divisi/evals/Benchmark"
 * import * as Benchmarks from "@divisi/evals/Benchmarks"
 *
 * const gpqa = Benchmarks.named("gpqa-diamond")
 * gpqa?.isGated // => true
 * Benchmarks.named("vibes") // => undefined
 * ```
 */
export const named = (name: string, sandbox: Sandbox = Sandboxes.shared): Graded | undefined =>
  makers.get(name)?.(sandbox)

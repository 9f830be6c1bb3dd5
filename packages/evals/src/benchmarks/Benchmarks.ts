/** The built-in benchmarks by name, for command-line use. */

import { Options as Tables } from "@divisi/core"
import type { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
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

/**
 * Answer formats: in `<answer>` tags, in a LaTeX box, on the last line, or as a program. The paper uses tags for
 * training.
 */
export type Format = "tags" | "box" | "line" | "program"

/** Settings for a benchmark. */
export interface Settings {
  /** The sandbox in which programs run. Default: a shared one (`Sandboxes.shared`). */
  readonly sandbox?: Sandbox.Sandbox | undefined
  /** The answer format. Default: the first one in {@link formats}. */
  readonly format?: Format | undefined
  /** The split. Default: the first one in {@link splits}. */
  readonly split?: string | undefined
}

const table = {
  sandbox: Tables.madeBy("a sandbox", "run"),
  format: Tables.oneOf("tags", "box", "line", "program"),
  split: Tables.name
} satisfies Tables.ShapeOf<Settings>

interface Entry {
  readonly formats: readonly [Format, ...ReadonlyArray<Format>]
  readonly splits: readonly [string, ...ReadonlyArray<string>]
  readonly make: (settings: {
    readonly format: string
    readonly split: string
    readonly sandbox: Sandbox.Sandbox
  }) => Graded
}

const rlpr = (rule: Rlpr.Options["rule"]): Entry => ({
  formats: ["tags"],
  splits: Rlpr.splits,
  make: ({ split }) => Rlpr.make({ rule, split: split as Rlpr.Split })
})

const entries: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  [
    "math500",
    {
      formats: ["box", "tags"],
      splits: ["test"],
      make: ({ format }) => Math500.make({ format: format as Math500.Options["format"] })
    }
  ],
  [
    "mmlu",
    {
      formats: ["line", "tags"],
      splits: ["test", "validation", "dev", "auxiliary_train"],
      make: ({ format, split }) => Mmlu.make({ format, split } as Mmlu.Options)
    }
  ],
  ["rlpr", rlpr("strict")],
  ["rlpr-paper", rlpr("paper")],
  ["rlpr-strict", rlpr("strict")],
  [
    "gpqa-diamond",
    {
      formats: ["line", "tags"],
      splits: ["test"],
      make: ({ format }) => GpqaDiamond.make({ format } as GpqaDiamond.Options)
    }
  ],
  [
    "aime25",
    {
      formats: ["box", "tags"],
      splits: ["test"],
      make: ({ format }) => Aime25.make({ format } as Aime25.Options)
    }
  ],
  [
    "bigcodebench-hard",
    {
      formats: ["program"],
      splits: ["test"],
      make: ({ sandbox }) => withGrader(BigCodeBenchHard.make(), CodeGrader.bigCodeBench(sandbox))
    }
  ],
  [
    "gsm8k",
    {
      formats: ["line", "tags"],
      splits: ["test"],
      make: ({ format }) => Gsm8k.make({ format: format as Gsm8k.Options["format"] })
    }
  ],
  ...LiveCodeBench.release("v6").map(
    (slice) =>
      [
        `livecodebench-${slice}`,
        {
          formats: ["program"],
          splits: ["test"],
          make: ({ sandbox }: { readonly sandbox: Sandbox.Sandbox }) =>
            withGrader(LiveCodeBench.make({ slices: [slice] }), CodeGrader.liveCodeBench(sandbox))
        }
      ] as const
  )
])

/** All names accepted by {@link named}. */
export const names: ReadonlyArray<string> = [...entries.keys()]

/** Returns the answer formats supported by a benchmark, default first; empty for an unknown name. */
export const formats = (name: string): ReadonlyArray<Format> => entries.get(name)?.formats ?? []

/** Returns the splits of a benchmark, evaluation split first; empty for an unknown name. */
export const splits = (name: string): ReadonlyArray<string> => entries.get(name)?.splits ?? []

/**
 * Returns a benchmark by name, with its grader; `undefined` if the name is unknown. Throws if the benchmark does not
 * have the requested format or split.
 *
 * **Example**
 *
 * ```ts
 * import * as Benchmark from "@divisi/evals/Benchmark"
 * import { Benchmarks } from "@divisi/evals"
 *
 * const gpqa = Benchmarks.named("gpqa-diamond")
 * gpqa?.isGated // => true
 * Benchmarks.named("mmlu", { format: "tags" })?.prompt // => "mmlu/tags/1"
 * Benchmarks.named("vibes") // => undefined
 * ```
 */
export const named = (name: string, settings: Settings = {}): Graded | undefined => {
  const entry = entries.get(name)
  if (entry === undefined) return undefined
  Tables.check("Benchmarks.named", settings, table)
  const { format = entry.formats[0], sandbox = Sandboxes.shared, split = entry.splits[0] } = settings
  const check = (what: string, wanted: string, known: ReadonlyArray<string>) => {
    if (!known.includes(wanted)) throw new Error(`${name} has no ${what} "${wanted}". Available: ${known.join(", ")}.`)
  }
  check("format", format, entry.formats)
  check("split", split, entry.splits)
  return entry.make({ format, split, sandbox })
}

/** Flags for `divisi gym`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { maxMissing } from "../eval/NotMeasured.ts"
import { choice, seed, text, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

const split = choice("split", ["train", "validation", "test"]).pipe(
  Flag.withDescription("Split to take the tasks from (default test)"),
  Flag.withDefault("test")
)

const family = Flag.String("family").pipe(
  Flag.withMetavar("<name>"),
  Flag.withDescription("Only tasks of this family. The stock family needs a tool"),
  Flag.optional
)

export const sampleFlags = {
  count: whole("count", 1).pipe(Flag.withDescription("Number of tasks (default 5)"), Flag.withDefault(5)),
  split,
  seed,
  family,
  json: toggle("json", "Print one line of JSON per task")
}

/** Parsed flags of `divisi gym sample`. */
export type SampleInput = Command.Command.Config.Infer<typeof sampleFlags>

export const verifiersFlags = {
  folder: Argument.String("folder").pipe(Argument.withDescription("Output folder; it must not exist yet"))
}

/** Parsed flags of `divisi gym verifiers`. */
export type VerifiersInput = Command.Command.Config.Infer<typeof verifiersFlags>

export const solveFlags = {
  ...conductorFlags,
  policy: text(
    "policy",
    "<name>",
    'Policy, or "all" to compare all of them (default: the config\'s, otherwise lexical). Available: lexical (matches descriptions), conductor (reads descriptions), tiny (trained for the gym), best-single, single:<id>, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, checked:<first>+<then>+<check>, agreed:<a>+<b>+<otherwise>, oracle'
  ),
  tasks: whole("tasks", 1).pipe(Flag.withDescription("Number of tasks (default 100)"), Flag.withDefault(100)),
  split,
  family,
  toolAccess: choice("tool-access", ["last-step", "every-step", "policy", "none"]).pipe(
    Flag.withDescription(
      "Steps that may use tools (default last-step). The tools come from the config, or from --family stock"
    ),
    Flag.optional
  ),
  seed,
  concurrency: whole("concurrency", 1).pipe(
    Flag.withDescription("Number of parallel runs (default 16)"),
    Flag.withDefault(16)
  ),
  maxMissing,
  json: toggle("json", "Print one line of JSON per policy")
}

/** Parsed flags of `divisi gym solve`. */
export type SolveInput = Command.Command.Config.Infer<typeof solveFlags>

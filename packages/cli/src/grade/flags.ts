/** Flags for `divisi grade`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { toggle } from "../invocation/flags.ts"

export const gradeFlags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Input file, or - for standard input (the default)"),
    Argument.withDefault("-")
  ),
  grader: Flag.String("grader").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "Grader (default math). Available: math, math500, letter, letter-paper, integer, aime, rlpr-strict, rlpr-paper, text, livecodebench, bigcodebench, judge:<vendor>:<model>, or your own file, such as ./mine.ts"
    ),
    Flag.withDefault("math")
  ),
  sandbox: Flag.String("sandbox").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "Sandbox for code: pyodide (default), bubblewrap, container:<image@sha256:…>, local-unsafe. With local-unsafe, programs run without isolation"
    ),
    Flag.withDefault("pyodide")
  ),
  lines: toggle("lines", "Read one JSON object per line, and print one JSON verdict per line"),
  gold: Flag.String("gold").pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("Correct answer, to grade one answer without a file"),
    Flag.optional
  ),
  answer: Flag.String("answer").pipe(Flag.withMetavar("<text>"), Flag.withDescription("Answer to grade"), Flag.optional)
}

/** Parsed flags of `divisi grade`. */
export type GradeInput = Command.Command.Config.Infer<typeof gradeFlags>

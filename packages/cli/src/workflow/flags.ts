/** Flags for `divisi workflow`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { toggle, whole } from "../invocation/flags.ts"

export const reading = {
  file: Argument.String("file").pipe(
    Argument.withDescription("File with a model completion, or - for standard input (the default)"),
    Argument.withDefault("-")
  ),
  strict: toggle("strict", "Accept only lists that Python's ast.literal_eval accepts, without surrounding text"),
  poolSize: whole("pool-size", 1).pipe(
    Flag.withMetavar("<n>"),
    Flag.withDescription("Number of workers (default: any index is accepted)"),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(
    Flag.withMetavar("<n>"),
    Flag.withDescription("Maximum number of steps (default 5)"),
    Flag.withDefault(5)
  ),
  allowEmpty: toggle(
    "allow-empty",
    "Accept a workflow without steps, with which a model keeps the previous answer in a later round"
  )
}

/** Parsed flags shared by the subcommands of `divisi workflow`. */
export type Reading = Command.Command.Config.Infer<typeof reading>

export const formats = ["text", "mermaid", "dot", "svg"] as const

/** Output formats for a workflow. */
export type Format = (typeof formats)[number]

/** Flags for `divisi chat`: the same as for `divisi run`, without the question. */
import type * as Command from "effect/cli/Command"
import { cost, timeout } from "../invocation/flags.ts"
import { flags as ofRun } from "../run/flags.ts"

const { file: _, json: __, question: ___, transcript: ____, ...team } = ofRun

export const flags = {
  ...team,
  maxCost: cost("max-cost", "Maximum cost of the conversation, in USD; never exceeded"),
  timeout: timeout("Maximum duration of one turn, e.g. 30s or 2m")
}

/** Parsed flags of `divisi chat`. */
export type ChatInput = Command.Command.Config.Infer<typeof flags>

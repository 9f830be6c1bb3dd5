/** What `divisi mcp` is asked for: what `divisi run` is, without a question. */
import type * as Command from "effect/cli/Command"
import { cost, text, timeout } from "../invocation/flags.ts"
import { flags as ofRun } from "../run/flags.ts"

const { file: _, json: __, question: ___, transcript: ____, ...team } = ofRun

export const flags = {
  ...team,
  maxCost: cost("max-cost", "The most that one question may cost, in USD; never exceeded"),
  maxTotalCost: cost("max-total-cost", "The most that all questions together may cost, in USD; never exceeded"),
  timeout: timeout("The longest that one question may take: 30s, 2m"),
  description: text("description", "<text>", "What clients' models are told that the team is for")
}

/** What `divisi mcp` is asked for. */
export type McpInput = Command.Command.Config.Infer<typeof flags>

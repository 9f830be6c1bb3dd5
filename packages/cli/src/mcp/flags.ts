/** What `divisi mcp` is asked for: what `divisi run` is, without a question. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { cost, timeout } from "../invocation/flags.ts"
import { flags as ofRun } from "../run/flags.ts"

const { file: _, json: __, question: ___, transcript: ____, ...team } = ofRun

export const flags = {
  ...team,
  maxCost: cost("max-cost", "The most that one question may cost, in USD; never exceeded"),
  maxTotalCost: cost("max-total-cost", "The most that all questions together may cost, in USD; never exceeded"),
  timeout: timeout("The longest that one question may take: 30s, 2m"),
  description: Flag.String("description").pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("What clients' models are told that the team is for"),
    Flag.optional
  )
}

/** What `divisi mcp` is asked for. */
export type McpInput = Command.Command.Config.Infer<typeof flags>

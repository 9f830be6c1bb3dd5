/** Flags for `divisi mcp`. */
import type * as Command from "effect/cli/Command"
import { cost, text, timeout } from "../invocation/flags.ts"
import { moreTeamFlags, teamFlags } from "../team/flags.ts"

export const flags = {
  ...teamFlags,
  maxCost: cost("max-cost", "Maximum cost of one question, in USD; never exceeded"),
  maxTotalCost: cost("max-total-cost", "Maximum total cost of all questions, in USD; never exceeded"),
  timeout: timeout("Maximum duration of one question, e.g. 30s or 2m"),
  description: text("description", "<text>", "Description of the team, shown to the client's model"),
  ...moreTeamFlags
}

/** Parsed flags of `divisi mcp`. */
export type McpInput = Command.Command.Config.Infer<typeof flags>

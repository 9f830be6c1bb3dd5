/** Flags for `divisi chat`. */
import type * as Command from "effect/cli/Command"
import { cost, timeout } from "../invocation/flags.ts"
import { moreTeamFlags, teamFlags } from "../team/flags.ts"

export const flags = {
  ...teamFlags,
  maxCost: cost("max-cost", "Maximum cost of the conversation, in USD; never exceeded"),
  timeout: timeout("Maximum duration of one turn, e.g. 30s or 2m"),
  ...moreTeamFlags
}

/** Parsed flags of `divisi chat`. */
export type ChatInput = Command.Command.Config.Infer<typeof flags>

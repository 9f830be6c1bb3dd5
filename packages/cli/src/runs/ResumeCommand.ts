/** Builds the command that resumes a stored run, including the flags it needs. */
import * as Option from "effect/Option"
import * as Hint from "../invocation/Hint.ts"
import * as Prices from "../vendors/Prices.ts"

/** Flags of the command that started or displayed the run. */
export interface Flags extends Hint.Place {
  readonly policy?: Option.Option<string> | undefined
  readonly check?: ReadonlyArray<string> | undefined
  readonly tool?: Option.Option<string> | undefined
  readonly mcp?: ReadonlyArray<string> | undefined
  readonly noTools?: boolean | undefined
  readonly toolAccess?: Option.Option<string> | undefined
  readonly approvePlans?: boolean | undefined
  readonly profiles?: Option.Option<string> | undefined
  readonly cache?: Option.Option<string> | undefined
  readonly price?: Option.Option<Prices.Prices> | undefined
  readonly maxSteps?: Option.Option<number> | undefined
  readonly recursion?: Option.Option<number> | undefined
  readonly maxOutputTokens?: Option.Option<number> | undefined
  readonly reassign?: Option.Option<string> | undefined
  readonly maxCost?: Option.Option<number> | undefined
}

/** Returns the command for resuming a run. It omits the cost limit of a run that reached a limit. */
export const text = (runId: string, flags: Flags, { isOverBudget = false } = {}): string => {
  const { flag } = Hint
  const each = (name: string, values: ReadonlyArray<string> = []) =>
    values.flatMap((value) => flag(name, Option.some(value)))
  const { maxCost = Option.none<number>(), price = Option.none<Prices.Prices>() } = flags
  return [
    Hint.command(`divisi runs resume ${Hint.quoted(runId)}`, flags),
    ...flag("policy", flags.policy),
    ...each("check", flags.check),
    ...flag("tool", flags.tool),
    ...each("mcp", flags.mcp),
    ...(flags.noTools === true ? ["--no-tools"] : []),
    ...flag("tool-access", flags.toolAccess),
    ...(flags.approvePlans === true ? ["--approve-plans"] : []),
    ...flag("profiles", flags.profiles),
    ...flag("cache", flags.cache),
    ...flag("price", Option.map(price, Prices.format)),
    ...flag("max-steps", flags.maxSteps),
    ...flag("recursion", flags.recursion),
    ...flag("max-output-tokens", flags.maxOutputTokens),
    ...flag("reassign", flags.reassign),
    ...(isOverBudget && Option.isSome(maxCost) ? ["--max-cost <more>"] : flag("max-cost", maxCost))
  ].join(" ")
}

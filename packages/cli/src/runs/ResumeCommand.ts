/** Builds the command that resumes a stored run, including the flags it needs. */
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/** Flags of the command that started or displayed the run. */
export interface Flags {
  readonly journal: Option.Option<string>
  readonly database?: Option.Option<Redacted.Redacted> | undefined
  readonly config?: Option.Option<string> | undefined
  readonly policy?: Option.Option<string> | undefined
  readonly check?: ReadonlyArray<string> | undefined
  readonly tool?: Option.Option<string> | undefined
  readonly mcp?: ReadonlyArray<string> | undefined
  readonly noTools?: boolean | undefined
  readonly maxSteps?: Option.Option<number> | undefined
  readonly recursion?: Option.Option<number> | undefined
  readonly maxCost?: Option.Option<number> | undefined
}

/** Quotes a word for use in a shell, if necessary. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

const none = Option.none<never>()

/**
 * Returns the command for resuming a run. It omits the database address, which may contain a password, and the cost
 * limit of a run that reached a limit.
 */
export const text = (runId: string, flags: Flags, { isOverBudget = false } = {}): string => {
  const given = (name: string, value: Option.Option<string | number> = none) =>
    Option.match(value, { onNone: () => [], onSome: (value) => [`--${name} ${quoted(`${value}`)}`] })
  const each = (name: string, values: ReadonlyArray<string> = []) =>
    values.flatMap((value) => given(name, Option.some(value)))
  return [
    `divisi runs resume ${quoted(runId)}`,
    ...given("journal", flags.journal),
    ...(Option.isSome(flags.database ?? none) ? ["--database <url>"] : []),
    ...given("config", flags.config),
    ...given("policy", flags.policy),
    ...each("check", flags.check),
    ...given("tool", flags.tool),
    ...each("mcp", flags.mcp),
    ...(flags.noTools === true ? ["--no-tools"] : []),
    ...given("max-steps", flags.maxSteps),
    ...given("recursion", flags.recursion),
    ...(isOverBudget && Option.isSome(flags.maxCost ?? none) ? ["--max-cost <more>"] : given("max-cost", flags.maxCost))
  ].join(" ")
}

/** Refuses flags that would have no effect, so that a user does not rely on them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, usage } from "./Failure.ts"

/** Values of flags by the flags' names, without the leading `--`. */
type Flags = Readonly<Record<string, boolean | Option.Option<unknown>>>

const firstSet = (flags: Flags): string | undefined =>
  Object.keys(flags).find((flag) => {
    const value = flags[flag]!
    return typeof value === "boolean" ? value : Option.isSome(value)
  })

/** Fails if one of the flags is set, because it has no effect with the `other` flag. */
export const besides = (other: string, flags: Flags): Effect.Effect<void, Failure> => {
  const flag = firstSet(flags)
  return flag === undefined
    ? Effect.void
    : Effect.fail(usage(`--${flag} has no effect with --${other}. Remove one of them.`))
}

/** Fails if one of the flags is set, because it has no effect without the `other` flag. */
export const without = (other: string, flags: Flags): Effect.Effect<void, Failure> => {
  const flag = firstSet(flags)
  return flag === undefined
    ? Effect.void
    : Effect.fail(usage(`--${flag} has no effect without --${other}. Add --${other}, or remove --${flag}.`))
}

/** `divisi key adjust` and `divisi key audit`: correct the spending recorded for a key, and list past corrections. */
import { randomUUID } from "node:crypto"
import os from "node:os"
import type { Account } from "@divisi/core"
import { rounded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import { unknown } from "../stores/KeyStore.ts"
import { oneLine } from "../view/Line.ts"
import { table, toLeft } from "../view/Table.ts"
import type { AdjustInput, AuditInput } from "./flags.ts"
import * as KeyAccounts from "./KeyAccounts.ts"
import * as KeyPlace from "./KeyPlace.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Returns the operating system user who makes the correction, e.g. `alice@host`. Containers may have no user name. */
const operator = (): string => {
  const name = () => {
    try {
      return os.userInfo().username
    } catch {
      return `uid ${process.getuid?.() ?? "unknown"}`
    }
  }
  return `${name()}@${os.hostname()}`
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const usd = (value: number): string => `${rounded(value)}`

const signed = (value: number): string => (value > 0 ? `+${usd(value)}` : usd(value))

const changeOf = ({ by, to }: AdjustInput): Effect.Effect<Account.Change, Failure> => {
  if (Option.isSome(by) === Option.isSome(to)) return Effect.fail(usage("Pass either --by or --to."))
  return Effect.succeed(Option.isSome(by) ? { addUsd: by.value } : { setUsd: Option.getOrThrow(to) })
}

const changeText = (change: Account.Change): string =>
  "addUsd" in change ? signed(change.addUsd) : `set to ${usd(change.setUsd)}`

/** Converts a correction to JSON. */
const jsonOf = ({ accounts, ...made }: Account.Adjustment) => {
  const topmost = accounts.at(-1)
  const { afterUsd = 0, beforeUsd = 0, name = "" } = topmost ?? {}
  return { ...made, key: KeyAccounts.keyOf(name), beforeUsd, afterUsd, accounts }
}

/** Corrects the spending of a key. A correction with a given name is applied only once. */
export const adjust = Effect.fnUntraced(function* (input: AdjustInput): Effect.fn.Return<void, Failure> {
  const change = yield* changeOf(input)
  const id = Option.getOrElse(input.once, () => randomUUID())
  const made = yield* KeyPlace.within(input, ({ accounts, keys }) =>
    Effect.gen(function* () {
      const known = yield* keys.all
      if (!known.some(({ id }) => id === input.key)) return yield* unknown(input.key, input, known)
      const opened = yield* accounts
      const now = opened.now()
      const at = Option.getOrElse(input.on, () => now)
      if (at > now) return yield* usage(`--on: ${dayOf(at)} is in the future; today is ${dayOf(now)} in UTC.`)
      const names = KeyAccounts.namesOf(input.key, at)
      const adjusted = opened.adjust({ id, by: operator(), reason: input.reason, change, names })
      return yield* Effect.mapError(adjusted, ({ message }) => failed(message))
    })
  )
  const isOfDay = Option.match(input.on, {
    onNone: () => true,
    onSome: (day) => made.accounts[0]?.name === KeyAccounts.namesOf(input.key, day)[0]
  })
  if (jsonOf(made).key !== input.key || changeText(made.change) !== changeText(change) || !isOfDay) {
    return yield* usage(
      `An adjustment named "${oneLine(id)}" already exists: ${changeText(made.change)} USD for key ${jsonOf(made).key} at ${new Date(made.at).toISOString()}. Choose another name for --once.`
    )
  }
  if (input.json) return print(JSON.stringify(jsonOf(made)))
  const rows = made.accounts.map(({ afterUsd, beforeUsd, name }) => [name, usd(beforeUsd), usd(afterUsd)])
  print(table([["account", "before USD", "after USD"], ...rows], toLeft))
  print(
    `Adjustment ${oneLine(made.id)} of ${new Date(made.at).toISOString()}. List all adjustments with: ${Hint.command("divisi key audit", input)}`
  )
})

/** Lists the corrections for all keys, or for one key. */
export const audit = Effect.fnUntraced(function* (input: AuditInput): Effect.fn.Return<void, Failure> {
  const named = Option.getOrUndefined(input.key)
  const [all, keys] = yield* KeyPlace.within(input, ({ accounts, keys }) =>
    Effect.zip(
      Effect.mapError(
        Effect.flatMap(accounts, ({ adjustments }) => adjustments),
        ({ message }) => failed(message)
      ),
      named === undefined ? Effect.succeed([]) : keys.all
    )
  )
  const shown = all.map(jsonOf).filter(({ key }) => named === undefined || key === named)
  if (named !== undefined && shown.length === 0 && !keys.some(({ id }) => id === named)) {
    return yield* unknown(named, input, keys)
  }
  if (input.json) return print(JSON.stringify(shown))
  if (shown.length === 0) return print("No adjustments found.")
  const rows = shown.map(({ afterUsd, at, beforeUsd, by, change, id, key, reason }) =>
    [new Date(at).toISOString(), by, key, changeText(change), usd(beforeUsd), usd(afterUsd), reason, id].map(oneLine)
  )
  print(table([["time", "by", "key", "change USD", "before", "after", "reason", "adjustment"], ...rows], toLeft))
})

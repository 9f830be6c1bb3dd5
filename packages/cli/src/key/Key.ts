/** `divisi key`: creates, lists, changes and revokes API keys. */
import { Nearest } from "@divisi/core"
import type { Keys } from "@divisi/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { clause, type Failure, failed, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import type { Change, StoredKey } from "../stores/KeyStore.ts"
import * as Format from "../view/Format.ts"
import { oneLine } from "../view/Line.ts"
import { table, toLeft } from "../view/Table.ts"
import type { ChangeInput, ListInput, MakeInput, RevokeInput } from "./flags.ts"
import * as KeyAccounts from "./KeyAccounts.ts"
import * as KeyFile from "./KeyFile.ts"
import * as KeyPlace from "./KeyPlace.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Returns an object without its `undefined` fields. */
const given = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined>
  }

type Fields = Required<Omit<Keys.Allowed, "limits" | "name"> & Keys.Key["limits"]>
type AllowedFields = { readonly [K in keyof Fields]: Fields[K] | undefined }

/** Returns what the flags allow, with `undefined` for each flag that is not given. */
const allowedOf = (input: Omit<ChangeInput, "id" | "name" | "remove">, now: number): AllowedFields => ({
  dayUsd: Option.getOrUndefined(input.maxCostPerDay),
  monthUsd: Option.getOrUndefined(input.maxCostPerMonth),
  totalUsd: Option.getOrUndefined(input.maxCost),
  workers: Option.getOrUndefined(input.workers),
  models: Option.getOrUndefined(input.models),
  rights: Option.getOrUndefined(input.rights),
  requestsPerMinute: Option.getOrUndefined(input.requestsPerMinute),
  tokensPerMinute: Option.getOrUndefined(input.tokensPerMinute),
  expiresAt: Option.isNone(input.expires) ? undefined : now + input.expires.value
})

/** The field that each flag sets. */
const fields: Readonly<Record<string, keyof AllowedFields>> = {
  "max-cost-per-day": "dayUsd",
  "max-cost-per-month": "monthUsd",
  "max-cost": "totalUsd",
  workers: "workers",
  models: "models",
  rights: "rights",
  "requests-per-minute": "requestsPerMinute",
  "tokens-per-minute": "tokensPerMinute",
  expires: "expiresAt"
}

/** Groups the limits on spending, as keys store them. */
const grouped = <A extends Partial<AllowedFields>>({ dayUsd, monthUsd, totalUsd, ...rest }: A) => ({
  ...given(rest),
  limits: given({ dayUsd, monthUsd, totalUsd })
})

const checkRights = Effect.fnUntraced(function* ({ rights }: Pick<ChangeInput, "rights">) {
  const { Rights } = yield* KeyFile.server
  const problem = Rights.problemOf(Option.getOrElse(rights, () => []))
  if (problem !== undefined) return yield* usage(`--rights: ${clause(problem)}`)
})

/** Creates a key and prints its secret. */
export const make = Effect.fnUntraced(function* (input: MakeInput): Effect.fn.Return<void, Failure> {
  const { Keys } = yield* KeyFile.server
  yield* checkRights(input)
  const now = yield* Clock.currentTimeMillis
  const { key, secret } = Keys.make({ name: input.name, ...grouped(allowedOf(input, now)) }, now)
  yield* KeyPlace.within(input, ({ keys }) => keys.add(key))
  const { hash: _, ...shown } = key
  if (input.json) return print(JSON.stringify({ ...shown, secret }))
  process.stderr.write(`divisi: created key ${key.id} for ${key.name}. The secret is shown only once:\n`)
  print(secret)
})

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const stateOf = ({ damaged, expiresAt, revokedAt }: StoredKey, now: number): string => {
  if (damaged !== undefined) return `damaged: ${damaged}`
  if (revokedAt !== undefined) return `revoked ${dayOf(revokedAt)}`
  if (expiresAt === undefined) return "good"
  return `${expiresAt <= now ? "expired" : "until"} ${dayOf(expiresAt)}`
}

const limitsOf = (
  { limits, requestsPerMinute, tokensPerMinute }: Keys.Key,
  { spentThisMonthUsd = 0, spentTodayUsd = 0 }: KeyAccounts.Spending
): string => {
  const all = [
    [limits.dayUsd, `USD per day (${Format.cost(spentTodayUsd)} today)`],
    [limits.monthUsd, `USD per month (${Format.cost(spentThisMonthUsd)} this month)`],
    [limits.totalUsd, "USD in total"],
    [requestsPerMinute, "requests per minute"],
    [tokensPerMinute, "tokens per minute"]
  ].flatMap(([value, unit]) => (value === undefined ? [] : [`${value} ${unit}`]))
  return all.length === 0 ? "none" : all.join(", ")
}

const columns = ["id", "name", "state", "spent", "limits", "rights", "workers", "models"]

const rowOf = (key: StoredKey, now: number, spent: KeyAccounts.Spending): ReadonlyArray<string> => [
  key.id,
  key.name,
  stateOf(key, now),
  Format.cost(spent.spentUsd),
  limitsOf(key, spent),
  key.rights?.join(",") ?? "none",
  key.workers?.join(",") ?? "all",
  key.models?.join(",") ?? "all"
]

const spendingAt = ({ accounts }: KeyPlace.KeyPlace) =>
  Effect.mapError(Effect.flatMap(accounts, KeyAccounts.spending), ({ message }) => failed(message))

/** Lists the keys. */
export const list = Effect.fnUntraced(function* (input: ListInput): Effect.fn.Return<void, Failure> {
  const now = yield* Clock.currentTimeMillis
  const keys = yield* KeyPlace.within(input, (place) =>
    Effect.flatMap(place.keys.all, (keys) =>
      keys.length === 0
        ? Effect.succeed([])
        : Effect.map(spendingAt(place), (spendingOf) => keys.map((key) => ({ key, spent: spendingOf(key) })))
    )
  )
  if (input.json) {
    return print(JSON.stringify(keys.map(({ key: { hash: _, ...key }, spent }) => ({ ...key, ...spent }))))
  }
  if (keys.length === 0) {
    return print(`There are no keys yet. Create one with: ${Hint.command("divisi key make <name>", input)}`)
  }
  print(table([columns, ...keys.map(({ key, spent }) => rowOf(key, now, spent))], toLeft))
})

const removedBy = (input: ChangeInput): Effect.Effect<ReadonlyArray<keyof AllowedFields>, Failure> =>
  Effect.forEach(
    Option.getOrElse(input.remove, () => []),
    (flag) => {
      const field = fields[flag.replace(/^--/, "")]
      if (field !== undefined) return Effect.succeed(field)
      const all = Object.keys(fields)
      const hint = Nearest.didYouMean(Nearest.nearest(flag, all), `Limits are ${all.join(", ")}.`)
      return Effect.fail(usage(`--remove: unknown limit "${oneLine(flag)}".${hint}`))
    }
  )

/** Changes what a key may do. Its secret and its spending stay. */
export const change = Effect.fnUntraced(function* (input: ChangeInput): Effect.fn.Return<void, Failure> {
  yield* checkRights(input)
  const now = yield* Clock.currentTimeMillis
  const removed = yield* removedBy(input)
  const added = given(allowedOf(input, now))
  const twice = Object.keys(fields).find((flag) => removed.includes(fields[flag]!) && fields[flag]! in added)
  if (twice !== undefined) return yield* usage(`Pass either --${twice} or --remove ${twice}.`)
  if (removed.length === 0 && Option.isNone(input.name) && Object.keys(added).length === 0) {
    return yield* usage(
      "Nothing to change. Pass a new limit or remove one, e.g. --max-cost-per-day 5 or --remove expires."
    )
  }
  const without = Object.fromEntries(removed.map((field) => [field, undefined]))
  const changed: Change = ({ createdAt, damaged: _, hash, id, limits, name, revokedAt, ...before }) => {
    if (revokedAt !== undefined) {
      const day = dayOf(revokedAt)
      return usage(
        `Key ${id} was revoked on ${day} and cannot be changed. Create a new one with: ${Hint.command("divisi key make <name>", input)}`
      )
    }
    const allowed = grouped({ ...limits, ...before, ...added, ...without })
    return Effect.succeed({ id, name: Option.getOrElse(input.name, () => name), hash, createdAt, ...allowed })
  }
  const [key, spendingOf] = yield* KeyPlace.within(input, (place) =>
    Effect.zip(place.keys.change(input.id, changed), spendingAt(place))
  )
  const { hash: _, ...shown } = key
  if (input.json) return print(JSON.stringify(shown))
  print(table([columns, rowOf(key, now, spendingOf(key))], toLeft))
})

/** Revokes a key. Its entry stays in the list. */
export const revoke = Effect.fnUntraced(function* (input: RevokeInput): Effect.fn.Return<void, Failure> {
  const now = yield* Clock.currentTimeMillis
  const { name } = yield* KeyPlace.within(input, ({ keys }) =>
    keys.change(input.id, (key) => Effect.succeed({ ...key, revokedAt: key.revokedAt ?? now }))
  )
  print(`Revoked key ${input.id} of ${name}.`)
})

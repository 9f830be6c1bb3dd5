/** `divisi key`: creates, lists and revokes API keys. */
import type { Keys } from "@divisi/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import type { StoredKey } from "../stores/KeyStore.ts"
import * as Format from "../view/Format.ts"
import { table, toLeft } from "../view/Table.ts"
import type { ListInput, MakeInput, RevokeInput } from "./flags.ts"
import * as KeyAccounts from "./KeyAccounts.ts"
import * as KeyFile from "./KeyFile.ts"
import * as KeyPlace from "./KeyPlace.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Returns an object without its `undefined` fields. */
const given = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined>
  }

const allowedOf = (input: MakeInput, now: number): Keys.Allowed => {
  const {
    expires,
    maxCost,
    maxCostPerDay,
    maxCostPerMonth,
    models,
    requestsPerMinute,
    rights,
    tokensPerMinute,
    workers
  } = input
  return {
    name: input.name,
    limits: given({
      dayUsd: Option.getOrUndefined(maxCostPerDay),
      monthUsd: Option.getOrUndefined(maxCostPerMonth),
      totalUsd: Option.getOrUndefined(maxCost)
    }),
    ...given({
      workers: Option.getOrUndefined(workers),
      models: Option.getOrUndefined(models),
      rights: Option.getOrUndefined(rights),
      requestsPerMinute: Option.getOrUndefined(requestsPerMinute),
      tokensPerMinute: Option.getOrUndefined(tokensPerMinute),
      expiresAt: Option.isNone(expires) ? undefined : now + expires.value
    })
  }
}

/** Creates a key and prints its secret. */
export const make = Effect.fnUntraced(function* (input: MakeInput): Effect.fn.Return<void, Failure> {
  const { Keys, Rights } = yield* KeyFile.server
  const problem = Rights.problemOf(Option.getOrElse(input.rights, () => []))
  if (problem !== undefined) return yield* usage(`--rights: ${problem}`)
  const now = yield* Clock.currentTimeMillis
  const { key, secret } = Keys.make(allowedOf(input, now), now)
  yield* KeyPlace.within(input, ({ keys }) => keys.put(key))
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

const limitsOf = ({ limits, requestsPerMinute, tokensPerMinute }: Keys.Key): string => {
  const all = [
    [limits.dayUsd, "USD per day"],
    [limits.monthUsd, "USD per month"],
    [limits.totalUsd, "USD in total"],
    [requestsPerMinute, "requests per minute"],
    [tokensPerMinute, "tokens per minute"]
  ].flatMap(([value, unit]) => (value === undefined ? [] : [`${value} ${unit}`]))
  return all.length === 0 ? "none" : all.join(", ")
}

const spentAt = ({ accounts }: KeyPlace.KeyPlace) =>
  Effect.mapError(Effect.flatMap(accounts, KeyAccounts.spent), ({ message }) => failed(message))

/** Lists the keys. */
export const list = Effect.fnUntraced(function* (input: ListInput): Effect.fn.Return<void, Failure> {
  const now = yield* Clock.currentTimeMillis
  const [keys, spent] = yield* KeyPlace.within(input, (place) =>
    Effect.flatMap(place.keys.all, (keys) =>
      Effect.map(
        keys.length === 0 ? Effect.succeed(new Map<string, number>()) : spentAt(place),
        (spent) => [keys, spent] as const
      )
    )
  )
  if (input.json) {
    return print(JSON.stringify(keys.map(({ hash: _, ...key }) => ({ ...key, spentUsd: spent.get(key.id) ?? 0 }))))
  }
  if (keys.length === 0) return print("There are no keys yet. Create one with: divisi key make <name>")
  const rows = keys.map((key) => [
    key.id,
    key.name,
    stateOf(key, now),
    Format.cost(spent.get(key.id) ?? 0),
    limitsOf(key),
    key.rights?.join(",") ?? "none",
    key.workers?.join(",") ?? "all"
  ])
  print(table([["id", "name", "state", "spent", "limits", "rights", "workers"], ...rows], toLeft))
})

/** Revokes a key. */
export const revoke = Effect.fnUntraced(function* (input: RevokeInput): Effect.fn.Return<void, Failure> {
  const now = yield* Clock.currentTimeMillis
  const name = yield* KeyPlace.within(input, ({ keys }) =>
    Effect.gen(function* () {
      const found = (yield* keys.all).find(({ id }) => id === input.id)
      if (found === undefined) return yield* KeyPlace.unknown(input.id)
      yield* keys.put({ ...found, revokedAt: found.revokedAt ?? now })
      return found.name
    })
  )
  print(`Revoked key ${input.id} of ${name}.`)
})

/**
 * API keys: which workers and models a caller may use, and how much it may spend.
 *
 * A key's secret is shown once, at creation. Only its hash is stored, and hashes are compared in constant time. The
 * caller of this module provides the store for keys and the accounts for their budgets.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { type Budget, Options as Tables } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Authenticate, type Caller, tokenOf } from "./Caller.ts"
import * as Pace from "./Pace.ts"
import * as CallId from "./segment/CallId.ts"
import { ApiError } from "./wire/ApiError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

const amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** The schema of a stored key. */
export const schema = Schema.Struct({
  /** Eight letters and digits, part of the secret. */
  id: Schema.String,
  /** A display name. */
  name: Schema.String,
  /** The SHA-256 of the secret, in hexadecimal. */
  hash: Schema.String,
  /** In milliseconds since 1970, like all times here. */
  createdAt: Schema.Finite,
  expiresAt: Schema.optionalKey(Schema.Finite),
  revokedAt: Schema.optionalKey(Schema.Finite),
  /** The workers that it may use. If absent, all. */
  workers: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The models that it may request. If absent, all. */
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Additional rights (`Rights.all`). If absent, none. */
  rights: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The limits in USD, per UTC day and month. */
  limits: Schema.Struct({
    dayUsd: Schema.optionalKey(amount),
    monthUsd: Schema.optionalKey(amount),
    totalUsd: Schema.optionalKey(amount)
  }),
  requestsPerMinute: Schema.optionalKey(count),
  tokensPerMinute: Schema.optionalKey(count)
})

/** A key. */
export type Key = typeof schema.Type

/** The settings of a new key. */
export type Allowed = Omit<Key, "id" | "hash" | "createdAt" | "revokedAt">

/** The stores of keys and of their accounts. */
export interface Options {
  /** Returns a key by id. Called for each request, so that revoked keys are refused immediately. */
  readonly find: (id: string) => Effect.Effect<Key | undefined, ApiError>
  /** Returns the account of a key, or `undefined` if the key has no limits. */
  readonly ledger: (key: Key, now: number) => Effect.Effect<Budget.Ledger | undefined, ApiError>
  /** Counts requests and tokens per minute; if absent, each process counts separately. */
  readonly paces?: Pace.Paces | undefined
}

const table = Tables.table(
  { find: Tables.aFunction, ledger: Tables.aFunction, paces: Tables.anObject } satisfies Tables.ShapeOf<Options>,
  { required: ["find", "ledger"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Secrets
// -------------------------------------------------------------------------------------------------------------------

const hashOf = (secret: string): Buffer => createHash("sha256").update(secret).digest()

/** Creates a key. The secret cannot be recovered from the stored data. */
export const make = (allowed: Allowed, now: number): { readonly key: Key; readonly secret: string } => {
  const id = CallId.random().slice(-8)
  const secret = `divisi_${id}_${CallId.random()}${CallId.random()}`
  return { secret, key: { ...allowed, id, hash: hashOf(secret).toString("hex"), createdAt: now } }
}

/** Returns the key id in a secret; `undefined` if the text is not a secret. */
const idIn = (secret: string): string | undefined => /^divisi_([0-9A-Za-z]{8})_[0-9A-Za-z]{44}$/.exec(secret)?.[1]

const nobody = Buffer.alloc(32)

/** Whether a secret belongs to a key. Takes the same time if the key does not exist. */
const matches = (secret: string, key: Key | undefined): boolean => {
  const kept = key === undefined ? nobody : Buffer.from(key.hash, "hex")
  return timingSafeEqual(hashOf(secret), kept.length === 32 ? kept : nobody) && key !== undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Callers
// -------------------------------------------------------------------------------------------------------------------

const refused = (message: string) => new ApiError({ kind: "authentication", message })

const tooMany = ({ of, waitMillis }: Pace.Refusal) =>
  new ApiError({
    kind: "rate-limit",
    message: `Rate limit exceeded: too many ${of} per minute for this API key. Retry after ${Math.ceil(waitMillis / 1000)} s.`,
    retryAfterMillis: waitMillis
  })

const checkValid = ({ expiresAt, revokedAt }: Key, now: number): Effect.Effect<void, ApiError> => {
  if (revokedAt !== undefined) return Effect.fail(refused("This API key was revoked."))
  return expiresAt !== undefined && expiresAt <= now ? Effect.fail(refused("This API key has expired.")) : Effect.void
}

const callerOfKey = ({ id: owner, models, rights, workers }: Key): Caller => ({ owner, workers, models, rights })

/**
 * Returns the caller that owns a run, for a server that continues the run. Fails if the key was revoked or has expired.
 */
export const callerOf =
  ({ find, ledger }: Pick<Options, "find" | "ledger">) =>
  (owner: string): Effect.Effect<Caller, ApiError> =>
    Effect.gen(function* () {
      const key = yield* find(owner)
      if (key === undefined) return yield* refused("Invalid API key.")
      const now = yield* Clock.currentTimeMillis
      yield* checkValid(key, now)
      return { ...callerOfKey(key), ledger: yield* ledger(key, now) }
    })

/** Authenticates requests by key, and enforces the key's rate limits. */
export const authenticate = (options: Options): Authenticate => {
  Tables.check("Keys.authenticate", options, table)
  const { find, ledger, paces = Pace.memory() } = options
  return Effect.fnUntraced(function* (headers) {
    const secret = tokenOf(headers)
    if (secret === undefined) {
      return yield* refused("An API key is required. Send it as a bearer token or as x-api-key.")
    }
    const id = idIn(secret)
    const key = id === undefined ? undefined : yield* find(id)
    if (!matches(secret, key) || key === undefined) return yield* refused("Invalid API key.")
    const now = yield* Clock.currentTimeMillis
    yield* checkValid(key, now)
    const { id: owner, requestsPerMinute, tokensPerMinute } = key
    if (requestsPerMinute !== undefined || tokensPerMinute !== undefined) {
      const refusal = yield* paces.take(owner, key)
      if (refusal !== undefined) return yield* tooMany(refusal)
    }
    return {
      ...callerOfKey(key),
      ledger: yield* ledger(key, now),
      onUsed:
        tokensPerMinute === undefined ? undefined : (tokens: number, at: number) => paces.use(owner, key, tokens, at)
    }
  })
}

/**
 * API keys, which limit the workers and models that a caller may use and the amount that it may spend.
 *
 * A key's secret is shown only once, when the key is created. Only its hash is stored, and hashes are compared in
 * constant time. The caller of this module supplies the key store and the budget accounts.
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

/** The stored form of a key. */
export const schema = Schema.Struct({
  /** Public part of the secret: eight letters and digits. */
  id: Schema.String,
  /** A display name. */
  name: Schema.String,
  /** SHA-256 hash of the secret, hex-encoded. */
  hash: Schema.String,
  /** Creation time. All times in this module are in milliseconds since 1970. */
  createdAt: Schema.Finite,
  expiresAt: Schema.optionalKey(Schema.Finite),
  revokedAt: Schema.optionalKey(Schema.Finite),
  /** Ids of the workers that the key may use. Defaults to all workers. */
  workers: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Names of the models that the key may request. Defaults to all models. */
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Additional rights from `Rights.all`. Defaults to none. */
  rights: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Spending limits in USD per UTC day and per UTC month. */
  limits: Schema.Struct({
    dayUsd: Schema.optionalKey(amount),
    monthUsd: Schema.optionalKey(amount),
    totalUsd: Schema.optionalKey(amount)
  }),
  requestsPerMinute: Schema.optionalKey(count),
  tokensPerMinute: Schema.optionalKey(count)
})

/** An API key, without its secret. */
export type Key = typeof schema.Type

/** Settings for a new key. */
export type Allowed = Omit<Key, "id" | "hash" | "createdAt" | "revokedAt">

/** The key store and the budget accounts, as supplied by the caller. */
export interface Options {
  /** Looks up a key by id. Called on every request, so that a revoked key is rejected immediately. */
  readonly find: (id: string) => Effect.Effect<Key | undefined, ApiError>
  /** Returns the account for a key, or `undefined` if the key has no limits. */
  readonly ledger: (key: Key, now: number) => Effect.Effect<Budget.Ledger | undefined, ApiError>
  /** Counts requests and tokens per minute. Defaults to counting in each process separately. */
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

/** Generates a key and its secret. The secret cannot be recovered from the key. */
export const make = (allowed: Allowed, now: number): { readonly key: Key; readonly secret: string } => {
  const id = CallId.random().slice(-8)
  const secret = `divisi_${id}_${CallId.random()}${CallId.random()}`
  return { secret, key: { ...allowed, id, hash: hashOf(secret).toString("hex"), createdAt: now } }
}

/** Extracts the key id from a secret. Returns `undefined` if the text is not a well-formed secret. */
const idIn = (secret: string): string | undefined => /^divisi_([0-9A-Za-z]{8})_[0-9A-Za-z]{44}$/.exec(secret)?.[1]

const nobody = Buffer.alloc(32)

/** Whether a secret matches a key. Runs in the same time whether or not the key exists. */
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
 * Returns the caller for the owner of a run, so that a server can continue the run. Fails if the key was revoked or has
 * expired.
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

/** Creates an authenticator that checks API keys and enforces their rate limits. */
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

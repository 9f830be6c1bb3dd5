/** Provides the key for each request, or the token that it is exchanged for if the server requires that. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import type * as Errors from "../TinkerError.ts"
import * as Transport from "./transport.ts"

/** A key, and the token that it was exchanged for. */
export interface Credential {
  readonly value: Effect.Effect<Redacted.Redacted<string> | undefined, Errors.TinkerError>
  /** Discards a rejected token. Returns `false` if it cannot be renewed. */
  readonly forget: Effect.Effect<boolean>
  /** Exchanges the key for a token from now on, using a call with these settings. */
  readonly exchange: (settings: Transport.Settings) => void
  readonly secrets: () => ReadonlyArray<string>
}

/** How long before its expiry a token is renewed, in milliseconds. */
const marginMillis = 5 * 60_000

const endOf = (token: string): number => {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"))
    return typeof claims.exp === "number" ? claims.exp * 1000 : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Creates a credential from a key. Without a key, none is sent. */
export const make = (key: Redacted.Redacted<string> | undefined): Credential => {
  let settings: Transport.Settings | undefined
  let token: { readonly value: Redacted.Redacted<string>; readonly end: number } | undefined
  const turn = Semaphore.makeUnsafe(1)
  const renew = (exchanging: Transport.Settings) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (token !== undefined && now < token.end - marginMillis) return token.value
      const plain = { ...exchanging, credential: Effect.succeed(key), refused: Effect.succeed(false) }
      const outgoing = { path: "auth/token", body: "{}" }
      const reply = yield* Transport.request(plain, outgoing)
      const { jwt } = (reply.json ?? {}) as { readonly jwt?: string | undefined }
      if (typeof jwt !== "string") return yield* Transport.refusal(plain, outgoing, reply, now)
      token = { value: Redacted.make(jwt), end: endOf(jwt) }
      return token.value
    })
  return {
    value: Effect.suspend(() =>
      settings === undefined || key === undefined ? Effect.succeed(key) : turn.withPermits(1)(renew(settings))
    ),
    forget: Effect.sync(() => {
      const had = token !== undefined
      token = undefined
      return had
    }),
    exchange: (exchanging) => {
      settings = exchanging
    },
    secrets: () => [key, token?.value].filter((value) => value !== undefined).map(Redacted.value)
  }
}

import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Database from "../src/stores/Database.ts"

/** Without a listener, the error shows which address was used. */
const at = (name: string) => `postgres://alice:a-secret@127.0.0.1:1/${name}`

const refusal = (places: {
  readonly flag?: string
  readonly environment?: string
  readonly config?: string | Redacted.Redacted
}) =>
  Effect.scoped(
    Database.open(
      Option.map(Option.fromUndefinedOr(places.flag), (flag) => Redacted.make(flag)),
      Effect.succeed({ serve: { database: places.config } })
    )
  ).pipe(
    Effect.flip,
    Effect.map(({ message }) => message),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown(places.environment === undefined ? {} : { DIVISI_DATABASE: places.environment })
    )
  )

describe("the database of several servers", () => {
  it.live("is that of the flag, or else that of the environment, or else that of the config", () =>
    Effect.gen(function* () {
      const [flag, environment, config] = [at("flag"), at("environment"), at("config")]
      assert.include(yield* refusal({ flag, environment, config }), "postgres://127.0.0.1:1/flag cannot be reached")
      assert.include(yield* refusal({ environment, config }), "postgres://127.0.0.1:1/environment cannot be reached")
      assert.include(yield* refusal({ config }), "postgres://127.0.0.1:1/config cannot be reached")
      const secret = yield* refusal({ config: Redacted.make(config) })
      assert.include(secret, "postgres://127.0.0.1:1/config cannot be reached")
      assert.notInclude(secret, "a-secret")
    })
  )

  it.live("is absent if none is named", () =>
    Effect.gen(function* () {
      const opened = Database.open(Option.none(), Effect.succeed({}))
      const none = ConfigProvider.fromUnknown({})
      assert.isUndefined(yield* Effect.scoped(Effect.provideService(opened, ConfigProvider.ConfigProvider, none)))
    })
  )
})

/** Reads environment variables with keys, addresses and settings. No other module of the package reads them. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"

/** Environment variables keyed by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the variables with the given names; empty ones are omitted.
 *
 * **Details**
 *
 * Variables are read through Effect's `Config`: from the process environment, unless the context has a different
 * `ConfigProvider`.
 *
 * **Example**
 *
 * ```ts
 * import { read } from "@divisi/recipes/Environment"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 *
 * const provider = ConfigProvider.layer(ConfigProvider.fromUnknown({ OPENAI_API_KEY: "sk-1" }))
 * const environment = await Effect.runPromise(Effect.provide(read(["OPENAI_API_KEY", "CI_TOKEN"]), provider))
 * environment // => { OPENAI_API_KEY: "sk-1" }
 * ```
 */
export const read = (names: ReadonlyArray<string>): Effect.Effect<Environment> =>
  Effect.map(
    Effect.forEach(names, (name) =>
      Effect.map(Effect.orDie(Config.String(name).pipe(Config.withDefault(""))), (value) => [name, value] as const)
    ),
    (variables) => Object.fromEntries(variables.filter(([, value]) => value !== ""))
  )

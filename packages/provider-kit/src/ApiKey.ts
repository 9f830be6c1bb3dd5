/** API keys from options or environment variables. */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** An API key: as plain text, as a `Redacted` value, or as the name of an environment variable. */
export type ApiKey = string | Redacted.Redacted<string> | { readonly env: string }

/**
 * Resolves a key. If no key is given, uses the first of `variables` that is set in the environment.
 *
 * **Details**
 *
 * Fails with a message for the `detail` of an `Authentication` error: it names the unset variable, or states that the
 * key is empty. An empty key is not replaced by one from the environment, which may belong to another account. The
 * label of a key from the environment is its variable.
 *
 * **Example**
 *
 * ```ts
 * import { ApiKey } from "@divisi/provider-kit"
 * import * as Redacted from "effect/Redacted"
 * import * as Result from "effect/Result"
 *
 * Redacted.value(Result.getOrThrow(ApiKey.resolve("sk-1", ["ACME_API_KEY"]))) // => "sk-1"
 * Result.getOrElse(ApiKey.resolve(undefined, ["ACME_API_KEY"]), (detail) => detail) // => "ACME_API_KEY is not set"
 * Result.getOrElse(ApiKey.resolve("", ["ACME_API_KEY"]), (detail) => detail) // => "the API key is empty"
 * ```
 */
export const resolve = (
  apiKey: ApiKey | undefined,
  variables: ReadonlyArray<string>
): Result.Result<Redacted.Redacted<string>, string> => {
  if (typeof apiKey === "string" || Redacted.isRedacted(apiKey)) {
    const key = Redacted.isRedacted(apiKey) ? apiKey : Redacted.make(apiKey)
    return Redacted.value(key) === "" ? Result.fail("the API key is empty") : Result.succeed(key)
  }
  const names = apiKey === undefined ? variables : [apiKey.env]
  const label = names.find((name) => process.env[name])
  return label === undefined
    ? Result.fail(`${names.join(" or ")} is not set`)
    : Result.succeed(Redacted.make(process.env[label]!, { label }))
}

/**
 * Returns the reason for a call without a usable key. `detail` is the failure of {@link resolve}.
 *
 * **Example**
 *
 * ```ts
 * import { ApiKey } from "@divisi/provider-kit"
 *
 * ApiKey.missing("ACME_API_KEY is not set").remedy // => "set it, or pass a key as apiKey"
 * ```
 */
export const missing = (detail: string): Extract<WorkerErrorReason, { readonly _tag: "Authentication" }> => ({
  _tag: "Authentication",
  detail,
  remedy: "set it, or pass a key as apiKey"
})

/** The key of a request: `undefined` if none is sent, and `"unknown"` if the caller's own headers may contain it. */
export type Sent = Redacted.Redacted<string> | "unknown" | undefined

const remedyOf = (key: Exclude<Sent, "unknown">, host: string): string =>
  key === undefined
    ? `no key was sent, and ${host} requires one. Pass it as apiKey, or set <NAME>_API_KEY for a worker named <name>:<model>`
    : `check that ${key.label ?? "the option apiKey"} is a valid key for ${host}`

/**
 * Adds to the reason for a rejected key where the key comes from and what to check. Names the variable or option, never
 * the value.
 *
 * **Example**
 *
 * ```ts
 * import { ApiKey } from "@divisi/provider-kit"
 * import * as Redacted from "effect/Redacted"
 *
 * const key = Redacted.make("sk-1", { label: "ACME_API_KEY" })
 * const reason = ApiKey.explain({ _tag: "Authentication" }, key, "api.acme.com")
 * reason // => { _tag: "Authentication", remedy: "check that ACME_API_KEY is a valid key for api.acme.com" }
 * ```
 */
export const explain = (reason: WorkerErrorReason, key: Sent, host: string): WorkerErrorReason =>
  reason._tag === "Authentication" && key !== "unknown" ? { ...reason, remedy: remedyOf(key, host) } : reason

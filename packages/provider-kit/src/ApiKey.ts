/** API keys from options or environment variables. */
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
 * key is empty. An empty key is not replaced by one from the environment, which may belong to another account.
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
  const found = names.map((name) => process.env[name]).find((value) => value !== undefined && value !== "")
  return found === undefined ? Result.fail(`${names.join(" or ")} is not set`) : Result.succeed(Redacted.make(found))
}

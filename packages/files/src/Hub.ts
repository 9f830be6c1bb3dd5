/** File URLs and access tokens for the Hugging Face Hub and servers with the same layout. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** A file in a repository. */
export interface Place {
  readonly kind: "model" | "dataset"
  /** The repository, as `owner/name`. */
  readonly repository: string
  /** A branch, tag or commit. Only a commit is immutable. Default: `main`. */
  readonly revision?: string | undefined
  /** Path of the file within the repository. */
  readonly file: string
}

const publicHub = "https://huggingface.co"

const orNone = <A>(config: Config.Config<A>) => Effect.orDie(Config.option(config))

/** The hub's address, from the environment variable `HF_ENDPOINT`. Default: the public hub. */
export const endpoint: Effect.Effect<string> = Effect.orDie(
  Config.String("HF_ENDPOINT").pipe(Config.withDefault(publicHub))
)

/** The access token in the environment variable `HF_TOKEN`. */
export const token: Effect.Effect<Redacted.Redacted<string> | undefined> = Effect.map(
  orNone(Config.Redacted("HF_TOKEN")),
  (found) => (Option.isSome(found) && Redacted.value(found.value) !== "" ? found.value : undefined)
)

/**
 * Returns the URL of a file.
 *
 * **Example**
 *
 * ```ts
 * import { Hub } from "@divisi/files"
 *
 * const address = Hub.url({ kind: "dataset", repository: "openai/gsm8k", file: "main/test.parquet" })
 * address // => "https://huggingface.co/datasets/openai/gsm8k/resolve/main/main/test.parquet"
 * ```
 */
export const url = ({ file, kind, repository, revision = "main" }: Place, endpoint: string = publicHub): string => {
  const home = `${endpoint.replace(/\/+$/, "")}/${kind === "dataset" ? "datasets/" : ""}${repository}`
  return `${home}/resolve/${encodeURIComponent(revision)}/${file.split("/").map(encodeURIComponent).join("/")}`
}

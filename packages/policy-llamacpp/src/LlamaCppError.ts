/**
 * The error for local models that cannot be found, loaded or run as requested.
 *
 * The whole package uses this error; failures while a worker answers are core's `WorkerError` instead. Each reason
 * describes the problem, where it occurred, and how to fix it.
 */
import * as FileError from "@divisi/files/FileError"
import * as Data from "effect/Data"

/** The reason for an error. Sizes are in bytes. */
export type LlamaCppErrorReason =
  /** The name is not a known model, a path or a reference. */
  | { readonly _tag: "Reference"; readonly detail: string }
  /** The file does not exist. */
  | { readonly _tag: "Missing" }
  /** The file is not in GGUF format, is truncated, or is inconsistent. */
  | { readonly _tag: "Damaged"; readonly detail: string }
  /** The GGUF file has another version or is in big-endian format. */
  | { readonly _tag: "Format"; readonly detail: string }
  /** The GGUF file has an architecture that this llama.cpp does not support. */
  | { readonly _tag: "Unsupported"; readonly architecture: string; readonly detail: string }
  /** The vocabulary cannot encode a required text. */
  | { readonly _tag: "Tokenizer"; readonly detail: string }
  /** The adapter is damaged, or was trained for another base model. */
  | { readonly _tag: "Adapter"; readonly adapter: string; readonly detail: string }
  | {
      readonly _tag: "Memory"
      readonly kind: "main memory" | "GPU memory"
      readonly needed: number
      readonly available: number
      readonly detail: string
    }
  /** There is no llama.cpp binary for this platform. */
  | { readonly _tag: "Binary"; readonly platform: string; readonly detail: string }
  /** A required GPU cannot be used. */
  | { readonly _tag: "Backend"; readonly backend: string; readonly detail: string }
  /** The server is unreachable. */
  | { readonly _tag: "Offline"; readonly url: string; readonly detail: string }
  /** The server rejected the request for the file. */
  | { readonly _tag: "Refused"; readonly url: string; readonly status: number }
  /** The downloaded file differs from the server's description. */
  | { readonly _tag: "Download"; readonly url: string; readonly detail: string }
  /** The cache folder cannot be read or written. */
  | { readonly _tag: "Folder"; readonly detail: string }
  /** A setting is invalid or conflicts with another one. */
  | { readonly _tag: "Setting"; readonly detail: string }
  /** llama.cpp failed without giving a reason. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** Formats a size for display: `4.4 GiB`. */
export const formatBytes = (bytes: number): string => {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const amount = bytes / 1024 ** unit
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`
}

const refusals: Readonly<Record<number, string>> = {
  401: "a token is required. Set HF_TOKEN to a token with read access, and accept the model's license on its page",
  403: "the token has no access. Accept the model's license on its page, or set HF_TOKEN to another token",
  404: "the file does not exist. Check the owner, the repository, the file and the revision",
  429: "too many requests. Wait, or set HF_TOKEN"
}

const describe = (reason: LlamaCppErrorReason): string => {
  switch (reason._tag) {
    case "Reference":
      return `${reason.detail}. Use the path of a .gguf file, hf:owner/repository/file.gguf, an https URL, or a name from \`divisi models list\`.`
    case "Missing":
      return "does not exist on this machine. Check the path, or download a model from `divisi models list`."
    case "Damaged":
      return `the GGUF file is incomplete or damaged: ${reason.detail}. Download or create it again.`
    case "Format":
      return `${reason.detail} Use a little-endian GGUF file of version 2 or 3.`
    case "Unsupported":
      return `llama.cpp cannot run the architecture "${reason.architecture}" (${reason.detail}). Use another model, or a newer version of this package.`
    case "Tokenizer":
      return `the tokenizer is incomplete: ${reason.detail}`
    case "Adapter":
      return `the adapter ${reason.adapter} cannot be used (${reason.detail}). Train it for this base model, or remove it.`
    case "Memory":
      return `${formatBytes(reason.needed)} of ${reason.kind} are needed and ${formatBytes(reason.available)} are free: ${reason.detail}`
    case "Binary":
      return `is not available for ${reason.platform} (${reason.detail}). Install node-llama-cpp with its optional dependencies, or build it with \`npx node-llama-cpp source download\`.`
    case "Backend":
      return `the GPU backend "${reason.backend}" does not start (${reason.detail}). Install its driver and its package, or do not require it.`
    case "Offline":
      return `${reason.url} cannot be reached (${reason.detail}). Check the connection, or pass the path of a local file.`
    case "Refused":
      return `${reason.url} returned status ${reason.status}: ${refusals[reason.status] ?? "the download failed. Try again later, or download the model from another host"}.`
    case "Download":
      return `${reason.url} sent unexpected content (${reason.detail}). The received data was discarded. Try again.`
    case "Folder":
      return `the folder of models cannot be used (${reason.detail}). Check its permissions and the free space, or choose another folder.`
    case "Setting":
      return reason.detail
    case "Failed":
      return `llama.cpp failed (${reason.detail}).`
  }
}

/** Reasons whose description has the model as its subject. */
const predicates: ReadonlyArray<string> = ["Missing", "Binary", "Reference"]

/** Raised if a model cannot be found, loaded or run as requested. `model` is its path or reference. */
export class LlamaCppError extends Data.TaggedError("LlamaCppError")<{
  readonly model: string
  readonly reason: LlamaCppErrorReason
}> {
  override get message(): string {
    const model = this.reason._tag === "Reference" ? `"${this.model}"` : this.model
    return `${model}${predicates.includes(this.reason._tag) ? "" : ":"} ${describe(this.reason)}`
  }
}

/** Creates an error for a model. */
export const make = (model: string, reason: LlamaCppErrorReason): LlamaCppError => new LlamaCppError({ model, reason })

/** Returns the message of any thrown value as one line. */
export const detailOf = (cause: unknown): string => FileError.detailOf(cause).replaceAll(/\s+/g, " ").trim()

/**
 * The error for models, adapters and their files that cannot be read or written.
 *
 * The whole package uses one error. `path` is the file, if any; each reason describes the problem and its remedy. A
 * retry can help only with `InputOutput`.
 */
import * as Data from "effect/Data"

/** The reason of an error. `detail` is a sentence with the relevant values. */
export type GgufErrorReason =
  /** The file does not exist. */
  | { readonly _tag: "Missing" }
  /** The system could not read or write: permissions, a full disk. */
  | { readonly _tag: "InputOutput"; readonly doing: string; readonly cause: unknown }
  /** The file is shorter than its header specifies. Both lengths are in bytes. */
  | { readonly _tag: "Truncated"; readonly needed: number; readonly found: number }
  /** The bytes do not follow the format. */
  | { readonly _tag: "Corrupt"; readonly detail: string }
  /** The file is valid, but of a kind that this package does not support. */
  | { readonly _tag: "Unsupported"; readonly detail: string }
  /** A metadata value does not fit its type, or a key occurs twice. */
  | { readonly _tag: "InvalidMetadata"; readonly key: string; readonly detail: string }
  /** A number in a model's configuration is impossible. */
  | { readonly _tag: "InvalidConfig"; readonly field: string; readonly detail: string }
  /** A tensor is missing or unknown, or has a wrong shape or wrong values. */
  | { readonly _tag: "InvalidTensor"; readonly tensor: string; readonly detail: string }
  /** The tokenizer is invalid, or does not belong to the model. */
  | { readonly _tag: "InvalidTokenizer"; readonly detail: string }
  /** The grammar is not GBNF, or uses unsupported syntax. */
  | { readonly _tag: "InvalidGrammar"; readonly detail: string }
  /** The adapter was trained on another model. */
  | { readonly _tag: "OtherBase"; readonly base: string; readonly detail: string }

const describe = (reason: GgufErrorReason): string => {
  switch (reason._tag) {
    case "Missing":
      return "There is no such file."
    case "InputOutput":
      return `Could not ${reason.doing}: ${reason.cause instanceof Error ? reason.cause.message : String(reason.cause)}`
    case "Truncated":
      return `The file has ${reason.found} bytes, its header promises ${reason.needed}. Get or write it again.`
    case "Corrupt":
      return `The file is damaged or of another format: ${reason.detail}`
    case "Unsupported":
      return reason.detail
    case "InvalidMetadata":
      return `Metadata "${reason.key}": ${reason.detail}`
    case "InvalidConfig":
      return `Config "${reason.field}": ${reason.detail}`
    case "InvalidTensor":
      return `Tensor "${reason.tensor}": ${reason.detail}`
    case "InvalidTokenizer":
      return `Tokenizer: ${reason.detail}`
    case "InvalidGrammar":
      return `Grammar: ${reason.detail}`
    case "OtherBase":
      return `The adapter does not fit ${reason.base}: ${reason.detail}`
  }
}

/** A model or adapter cannot be read, written or converted. */
export class GgufError extends Data.TaggedError("GgufError")<{
  readonly reason: GgufErrorReason
  readonly path?: string | undefined
}> {
  override get message(): string {
    return this.path === undefined ? describe(this.reason) : `${this.path}: ${describe(this.reason)}`
  }
}

/** Makes an error from a reason. */
export const make = (reason: GgufErrorReason, path?: string): GgufError =>
  new GgufError(path === undefined ? { reason } : { reason, path })

/** Maps a failed system call to an error; a `GgufError` passes unchanged. */
export const fromUnknown = (cause: unknown, path: string, doing: string): GgufError => {
  if (cause instanceof GgufError) return cause.path === undefined ? make(cause.reason, path) : cause
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT"
  return make(isMissing ? { _tag: "Missing" } : { _tag: "InputOutput", doing, cause }, path)
}

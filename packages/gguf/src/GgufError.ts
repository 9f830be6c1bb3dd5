/**
 * The error raised when a model, an adapter or their files cannot be read or written.
 *
 * The whole package uses this error. `path` is the affected file, if any, and the reason describes the problem and how
 * to fix it. Only `InputOutput` errors are worth retrying.
 */
import * as Data from "effect/Data"

/** The reason for a {@link GgufError}. `detail` is a sentence that includes the relevant values. */
export type GgufErrorReason =
  /** The file does not exist. */
  | { readonly _tag: "Missing" }
  /** A read or write failed in the operating system, for example due to permissions or a full disk. */
  | { readonly _tag: "InputOutput"; readonly doing: string; readonly cause: unknown }
  /** The file is shorter than its header specifies. Both lengths are in bytes. */
  | { readonly _tag: "Truncated"; readonly needed: number; readonly found: number }
  /** The contents violate the file format. */
  | { readonly _tag: "Corrupt"; readonly detail: string }
  /** The file is valid, but uses a feature that this package does not support. */
  | { readonly _tag: "Unsupported"; readonly detail: string }
  /** A metadata value does not match its type, or a key occurs twice. */
  | { readonly _tag: "InvalidMetadata"; readonly key: string; readonly detail: string }
  /** A value in the model configuration is out of range. */
  | { readonly _tag: "InvalidConfig"; readonly field: string; readonly detail: string }
  /** A tensor is missing or unknown, or its shape or values are invalid. */
  | { readonly _tag: "InvalidTensor"; readonly tensor: string; readonly detail: string }
  /** The tokenizer is invalid or does not match the model. */
  | { readonly _tag: "InvalidTokenizer"; readonly detail: string }
  /** The grammar is not valid GBNF, or uses unsupported syntax. */
  | { readonly _tag: "InvalidGrammar"; readonly detail: string }
  /** The adapter was trained on a different base model. */
  | { readonly _tag: "OtherBase"; readonly base: string; readonly detail: string }

const describe = (reason: GgufErrorReason): string => {
  switch (reason._tag) {
    case "Missing":
      return "There is no such file."
    case "InputOutput":
      return `Could not ${reason.doing}: ${reason.cause instanceof Error ? reason.cause.message : String(reason.cause)}`
    case "Truncated":
      return `The file has ${reason.found} bytes, but its header declares ${reason.needed}. Download or write it again.`
    case "Corrupt":
      return `The file is damaged or has a different format: ${reason.detail}`
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

/** Raised when a model or adapter cannot be read, written or converted. */
export class GgufError extends Data.TaggedError("GgufError")<{
  readonly reason: GgufErrorReason
  readonly path?: string | undefined
}> {
  override get message(): string {
    return this.path === undefined ? describe(this.reason) : `${this.path}: ${describe(this.reason)}`
  }
}

/** Creates an error from a reason. */
export const make = (reason: GgufErrorReason, path?: string): GgufError =>
  new GgufError(path === undefined ? { reason } : { reason, path })

/** Converts the cause of a failed system call to a `GgufError`. An existing `GgufError` is returned unchanged. */
export const fromUnknown = (cause: unknown, path: string, doing: string): GgufError => {
  if (cause instanceof GgufError) return cause.path === undefined ? make(cause.reason, path) : cause
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT"
  return make(isMissing ? { _tag: "Missing" } : { _tag: "InputOutput", doing, cause }, path)
}

/**
 * JSON with an embedded checksum, which allows readers to detect corruption and manual changes.
 *
 * The last key of the object, `sha256`, is the SHA-256 of the object without it, as JSON without whitespace. A text
 * that was only reformatted therefore still matches, and readers that do not know the key see an ordinary object.
 */
import { createHash } from "node:crypto"
import * as Data from "effect/Data"

/** Raised if the content does not match its checksum. */
export class DamageError extends Data.TaggedError("DamageError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Options for verifying an object. */
export interface ReadOptions {
  /** Whether to accept an object without a checksum. Default: `false`. */
  readonly isOptional?: boolean | undefined
}

const sumOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * Serializes an object with its checksum, on one line or indented by the given number of spaces.
 *
 * **Example**
 *
 * ```ts
 * import { Sealed } from "@divisi/files"
 *
 * const text = Sealed.stringify({ step: 1 })
 * Sealed.parse(text) // => { step: 1 }
 * ```
 */
export const stringify = (value: object, indent = 0): string => {
  const text = JSON.stringify(value)
  const sha256 = sumOf(text)
  if (indent > 0) return JSON.stringify({ ...value, sha256 }, null, indent)
  return text === "{}" ? `{"sha256":"${sha256}"}` : `${text.slice(0, -1)},"sha256":"${sha256}"}`
}

/** Verifies a parsed object and returns it. Throws a `DamageError` if it was changed. */
export const open = (value: unknown, { isOptional = false }: ReadOptions = {}): object => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DamageError({ detail: "it is not an object" })
  }
  const { sha256, ...rest } = value as { readonly sha256?: unknown }
  if (sha256 === undefined && isOptional) return value
  if (sha256 === undefined) throw new DamageError({ detail: "it has no checksum" })
  if (sumOf(JSON.stringify(rest)) === sha256) return rest
  throw new DamageError({ detail: "its checksum does not match, so it is corrupt or was edited" })
}

/** Parses and verifies an object. Throws a `DamageError` if it was changed. */
export const parse = (text: string, options?: ReadOptions): object => {
  if (text.trim() === "") throw new DamageError({ detail: "it is empty" })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DamageError({ detail: `it is not JSON (${(error as Error).message.replaceAll(/\s+/g, " ")})` })
  }
  return open(value, options)
}

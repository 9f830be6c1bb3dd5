/** Why a file or folder cannot be read or written. */
import path from "node:path"
import * as Data from "effect/Data"

/** What went wrong. Only `Failed` may pass by itself. */
export type FileErrorReason = "Missing" | "Denied" | "Full" | "Failed"

const reasons: Readonly<Record<string, FileErrorReason>> = {
  ENOENT: "Missing",
  ENOTDIR: "Missing",
  EACCES: "Denied",
  EPERM: "Denied",
  EROFS: "Denied",
  ENOSPC: "Full",
  EDQUOT: "Full"
}

const explain = (reason: FileErrorReason, file: string, detail: string): string => {
  switch (reason) {
    case "Missing":
      return `there is no such file or folder (${detail}): check the path`
    case "Denied":
      return `the system does not allow it (${detail}): check the permissions`
    case "Full":
      return `no space is left on the disk of ${path.dirname(path.resolve(file))}: free some and try again`
    case "Failed":
      return detail
  }
}

/** What the system, or a function that was given, has said of a failure. */
export const detailOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** A file or folder that cannot be used. `cause` is what was thrown. */
export class FileError extends Data.TaggedError("FileError")<{
  readonly file: string
  /** What was tried, e.g. `"written"`. */
  readonly tried: "read" | "written" | "removed"
  readonly reason: FileErrorReason
  readonly cause: unknown
}> {
  override get message(): string {
    return `${this.file} cannot be ${this.tried}: ${explain(this.reason, this.file, detailOf(this.cause))}.`
  }
}

/** The error for what a call of the system threw; a `FileError` stays what it is. */
export const fromUnknown =
  (file: string, tried: FileError["tried"]) =>
  (cause: unknown): FileError => {
    if (cause instanceof FileError) return cause
    const { code } = (cause ?? {}) as { readonly code?: unknown }
    return new FileError({ file, tried, cause, reason: reasons[String(code)] ?? "Failed" })
  }

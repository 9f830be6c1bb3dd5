/** Errors for files and folders that cannot be read or written, and the receiver of warnings about files. */
import path from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import { partialPattern } from "./internal/partial.ts"

/** The kind of failure. Only `Failed` may be temporary. */
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

/** An error of a call of the system, as Node throws it. */
interface SystemError extends Error {
  readonly code: string
  readonly syscall: string
  readonly path?: string | undefined
}

const missing = "the file does not exist"
const denied = "permission denied; check the permissions"

/** Calls that read a folder, so that its name is that of a missing folder. */
const ofFolders = ["scandir", "opendir"]

/** The codes of a file system in words. */
const inWords: Readonly<Record<string, string>> = {
  ENOENT: missing,
  ENOTDIR: "part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: denied,
  EPERM: denied,
  EROFS: "its disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EEXIST: "it already exists",
  ENOTEMPTY: "the folder is not empty",
  EBUSY: "it is in use",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links form a loop",
  EFBIG: "it is too large",
  EIO: "the disk reports an error"
}

const isSystemError = (cause: unknown): cause is SystemError => {
  const { code, syscall } = (cause ?? {}) as Partial<SystemError>
  return (
    cause instanceof Error && typeof code === "string" && typeof syscall === "string" && Object.hasOwn(inWords, code)
  )
}

/**
 * Describes a system error, or an error thrown by a user function. System error codes are translated to words. The
 * failed path is included, unless it is the path passed as `named`, which the caller's message already contains.
 */
export const detailOf = (cause: unknown, named?: string): string => {
  if (!isSystemError(cause)) return cause instanceof Error ? cause.message : String(cause)
  const { code, path: at, syscall } = cause
  if (syscall.startsWith("spawn")) {
    const program = at ?? syscall.slice("spawn ".length)
    return code === "ENOENT"
      ? `the program "${program}" was not found`
      : `the program "${program}" cannot be started: ${inWords[code]}`
  }
  const target = at?.replace(partialPattern, "")
  const isNamed = target === undefined || (named !== undefined && path.resolve(target) === path.resolve(named))
  const words = code === "ENOENT" && ofFolders.includes(syscall) ? "the folder does not exist" : inWords[code]!
  return isNamed ? words : `${target}: ${words}`
}

const explain = (reason: FileErrorReason, tried: string, file: string, cause: unknown): string => {
  const { code, path: place = file, syscall } = (isSystemError(cause) ? cause : {}) as Partial<SystemError>
  const at = place.replace(partialPattern, "")
  const isOther = path.resolve(at) !== path.resolve(file)
  switch (reason) {
    case "Missing":
      if (tried === "written" && code === "ENOENT" && syscall === "open")
        return `the folder ${path.dirname(at)} does not exist. Create it, or check the path`
      return syscall === "mkdir"
        ? "the folder cannot be created. Check the path"
        : `${missing}${isOther ? ` (${at})` : ""}. Check the path`
    case "Denied":
      return code === "EROFS"
        ? `${inWords.EROFS}${isOther ? ` (${at})` : ""}. Use a file on another disk`
        : `permission denied${isOther ? ` (${at})` : ""}. Check the permissions`
    case "Full":
      return `the disk with ${path.dirname(path.resolve(file))} is full. Free some space and try again`
    case "Failed":
      return detailOf(cause, file)
  }
}

/** A file or folder cannot be used. `cause` is the thrown value. */
export class FileError extends Data.TaggedError("FileError")<{
  readonly file: string
  /** The attempted operation, e.g. `"written"`. */
  readonly tried: "read" | "written" | "removed"
  readonly reason: FileErrorReason
  readonly cause: unknown
}> {
  override get message(): string {
    return `${this.file} cannot be ${this.tried}: ${explain(this.reason, this.tried, this.file, this.cause)}.`
  }
}

/** Converts the error of a system call; a `FileError` is returned unchanged. */
export const fromUnknown =
  (file: string, tried: FileError["tried"]) =>
  (cause: unknown): FileError => {
    if (cause instanceof FileError) return cause
    const { code } = (cause ?? {}) as { readonly code?: unknown }
    return new FileError({ file, tried, cause, reason: reasons[String(code)] ?? "Failed" })
  }

/** Receives warnings about files that other users can read. Default: Node's warnings. */
export const Report: Context.Reference<(message: string) => void> = Context.Reference(
  "@divisi/files/FileError/Report",
  {
    defaultValue: () => (message: string) => process.emitWarning(message, { code: "DIVISI_OPEN_FILE" })
  }
)

/** Command failures and their exit codes. */
import { detailOf } from "@divisi/files/FileError"
import * as Data from "effect/Data"

/** Exit codes of `divisi`. They are documented in `--help` and the README. */
export const exitCodes = {
  /** The run was answered, or the command succeeded. */
  answered: 0,
  /** The run or the command failed. */
  failed: 1,
  /** The command line or the config is invalid. */
  usage: 2,
  /** The run was stopped by its budget. */
  budget: 3,
  /** The run has no answer, because a model refused. */
  refused: 4,
  /** The run is waiting for tool results or approvals. */
  suspended: 5,
  /** Interrupted with Ctrl-C. */
  interrupted: 130,
  /** The reader of the output has closed the pipe. */
  brokenPipe: 141,
  /** Stopped with SIGTERM. */
  terminated: 143
} as const

/** Ends a command with an exit code, and prints a message unless it is empty. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly exitCode: number
  readonly message: string
}> {}

/** Creates a failure with exit code 1. */
export const failed = (message: string): Failure => new Failure({ exitCode: exitCodes.failed, message })

/** Creates a failure for invalid usage, with exit code 2. */
export const usage = (message: string): Failure => new Failure({ exitCode: exitCodes.usage, message })

/** Returns a sentence that follows a prefix with a colon: its first letter is lower case, unless it begins a name. */
export const clause = (message: string): string =>
  message.replace(/^[A-Z](?=[a-z]+ )/, (letter) => letter.toLowerCase())

/** Returns a sentence that begins with a capital letter. */
export const capitalized = (message: string): string => message.replace(/^[a-z]/, (letter) => letter.toUpperCase())

/** Creates a failure without a message, for errors that were already printed. */
export const silent = (exitCode: number): Failure => new Failure({ exitCode, message: "" })

/**
 * Returns the message of any thrown value. `named` is a file name to omit because the caller's message already includes
 * it.
 */
export const messageOf = (error: unknown, named?: string): string =>
  error instanceof Error || typeof error === "string" ? detailOf(error, named) : "an unknown error"

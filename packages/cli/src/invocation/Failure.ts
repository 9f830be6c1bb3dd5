/** Failures of commands, with their exit codes. */
import { detailOf } from "@divisi/files/FileError"
import * as Data from "effect/Data"

/** The exit codes of `divisi`, as `--help` and the README document them. */
export const exitCodes = {
  /** A run: answered. Other commands: done. */
  answered: 0,
  /** The run, or the command, failed. */
  failed: 1,
  /** The command line or the config is wrong. */
  usage: 2,
  /** A run was stopped by its budget. */
  budget: 3,
  /** A run has no answer, because a model declined. */
  refused: 4,
  /** A run waits for tool results or approvals. */
  suspended: 5,
  /** Ctrl-C. */
  interrupted: 130,
  /** The reader of the output has closed it. */
  brokenPipe: 141,
  /** SIGTERM. */
  terminated: 143
} as const

/** Ends a command with an exit code, and with a message unless everything was already printed. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly exitCode: number
  readonly message: string
}> {}

/** Returns a failure of the command itself, with exit code 1. */
export const failed = (message: string): Failure => new Failure({ exitCode: exitCodes.failed, message })

/** Returns a failure because of invalid usage, with exit code 2. */
export const usage = (message: string): Failure => new Failure({ exitCode: exitCodes.usage, message })

/** Returns a failure with an exit code and without a message: everything was already printed. */
export const silent = (exitCode: number): Failure => new Failure({ exitCode, message: "" })

/** Returns the message of any thrown value. `named` is a file that the caller's message already names. */
export const messageOf = (error: unknown, named?: string): string =>
  error instanceof Error || typeof error === "string" ? detailOf(error, named) : "an unknown error"

/** The ways in which a command ends other than well, each with its exit code. */
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
  /** A run has no answer, as who was to give it declined. */
  refused: 4,
  /** A run waits for the results of tools, or for a person's word. */
  suspended: 5,
  /** Ctrl-C. */
  interrupted: 130,
  /** The reader of the output has gone. */
  brokenPipe: 141,
  /** SIGTERM. */
  terminated: 143
} as const

/** A command that ends with an exit code, and with a message when there is something to say that was not shown yet. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly exitCode: number
  readonly message: string
}> {}

/** The command could not do what it was asked to. */
export const failed = (message: string): Failure => new Failure({ exitCode: exitCodes.failed, message })

/** The command was asked for something it does not understand. */
export const usage = (message: string): Failure => new Failure({ exitCode: exitCodes.usage, message })

/** Returns a failure with an exit code and without a message: everything was already printed. */
export const silent = (exitCode: number): Failure => new Failure({ exitCode, message: "" })

/** The message of anything that was thrown. `named` is a file that the caller names itself. */
export const messageOf = (error: unknown, named?: string): string =>
  error instanceof Error || typeof error === "string" ? detailOf(error, named) : "an unknown error"

/** The entry point of the `divisi` process: runs the command line and exits with the resulting code. */

import { Report } from "@divisi/files/FileError"
import { read } from "@divisi/recipes/Environment"
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Cli from "./Cli.ts"
import { exitCodes, Failure, messageOf } from "./invocation/Failure.ts"
import * as HangUp from "./invocation/HangUp.ts"
import * as Output from "./invocation/Output.ts"
import { clean } from "./view/Line.ts"

/** The signal that stopped this process, if any. */
let stoppedBy: keyof typeof signals | undefined

/** Whether to print the stack of unexpected errors. */
let isDebugging = false

const signals = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: 129,
  EPIPE: exitCodes.brokenPipe,
  output: exitCodes.failed
} as const

for (const stream of [Output.stdout, process.stderr]) Output.guard(stream)

const say = (message: string): void => void process.stderr.write(`divisi: ${clean(message).trimEnd()}\n`)

/** Prints a failure unless it was already printed, and returns its exit code. */
const report = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Cause.squash(exit.cause)
  if (error instanceof Failure) {
    if (error.message !== "") say(error.message)
    return error.exitCode
  }
  const usageCode = Cli.exitCodeOf(error)
  if (usageCode !== undefined) return usageCode
  say(`unexpected error: ${messageOf(error)}`)
  if (error instanceof Error && isDebugging) process.stderr.write(`${clean(error.stack ?? "")}\n`)
  return exitCodes.failed
}

/** Exits after all output has been flushed. */
const leave = (code: number): void => {
  process.exitCode = code
  Output.stdout.write("", () => process.stderr.write("", () => process.exit(code)))
}

/**
 * Runs an effect as the main program. The first signal interrupts it, so that it can still report its work; a second
 * one exits immediately. The process also exits if its output is closed (silently, because nothing reads further
 * output) or cannot be written, e.g. on a full disk. Errors on standard error are ignored.
 */
const runMain = Runtime.makeRunMain(({ fiber }) => {
  const stop = (reason: keyof typeof signals) => {
    if (stoppedBy !== undefined) {
      if (reason !== "EPIPE" && reason !== "output") process.exit(signals[reason])
      return
    }
    stoppedBy = reason
    fiber.interruptUnsafe(fiber.id)
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(signal))
  // Ctrl-Break. Other systems never send it.
  process.on("SIGBREAK", () => stop("SIGINT"))
  process.on("SIGHUP", () => HangUp.isHeard() || stop("SIGHUP"))
  process.stderr.on("error", () => {})
  Output.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A closed terminal reports EIO.
    if (error.code === "EPIPE" || error.code === "EIO") return stop("EPIPE")
    if (stoppedBy === undefined) say(`Cannot write the output: ${messageOf(error)}. The work so far is stored.`)
    stop("output")
  })
  fiber.addObserver((exit) => {
    const code = stoppedBy === "EPIPE" || stoppedBy === "output" ? 0 : report(exit)
    leave(stoppedBy === undefined ? code : signals[stoppedBy])
  })
})

const divisi = Effect.gen(function* () {
  Output.claim()
  isDebugging = (yield* read(["DIVISI_DEBUG"])).DIVISI_DEBUG !== undefined
  yield* Effect.provideService(Cli.run(process.argv.slice(2)), Report, say)
})

/**
 * Node services for the command line. The package that bundles them in a single layer also includes Redis and HTTP
 * clients.
 */
const services = Layer.provideMerge(
  NodeChildProcessSpawner.layer,
  Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer)
)

runMain(Effect.provide(divisi, services), { disableErrorReporting: true })

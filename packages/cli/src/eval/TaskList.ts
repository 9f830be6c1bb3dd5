/** Parses task lists: comma-separated ids, files with one id per line, or JSON Lines files with ids or questions. */
import { existsSync } from "node:fs"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import * as TextFile from "../invocation/TextFile.ts"
import * as Suites from "./Suites.ts"

const entryOf = (line: string): string | Task.Task => {
  if (!line.startsWith("{")) return line
  const value = JSON.parse(line) as { readonly id?: unknown; readonly question?: unknown; readonly messages?: unknown }
  const id = typeof value.id === "string" ? { id: value.id } : {}
  if (Array.isArray(value.messages)) return Task.make({ ...(value as Task.Task), ...id })
  if (typeof value.question === "string") return Task.make({ question: value.question, ...id })
  if (typeof value.id === "string") return value.id
  throw new Error('each JSON line needs an "id" or a "question"')
}

/** Reads a file of ids. Lines that contain a question are returned as tasks. */
export const read = (file: string): Effect.Effect<ReadonlyArray<string | Task.Task>, Failure> =>
  Effect.try({
    try: () =>
      TextFile.read(file)
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .map(entryOf),
    catch: (error) => usage(`Cannot read tasks from ${file}: ${messageOf(error, file)}.`)
  })

/** Returns the ids in a comma-separated list or in a file. */
export const ids = (given: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  existsSync(given) ? ofFile(given) : Effect.succeed(Suites.listOf(given))

const ofFile = (file: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  Effect.map(read(file), (entries) => entries.map((entry) => (typeof entry === "string" ? entry : entry.id)))

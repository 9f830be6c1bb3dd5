/** The response cache, and transcripts. */
import fs from "node:fs"
import path from "node:path"
import { Baselines, type RunEvent, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Wire from "@divisi/core/Wire"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskCache, Sealed } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { Broken, type Subject, same } from "./Subject.ts"

const answerOf = (index: number) => ({
  text: `answer ${index} `.repeat(20 + index * 7),
  finishReason: "stop" as const,
  usage: { inputTokens: 3, outputTokens: index }
})

const file = "cache.sqlite"

const inCache = <A>(
  folder: string,
  use: (index: number) => [string, Effect.Effect<ReturnType<typeof answerOf>>],
  and: (index: number, text: string) => A
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const cache = yield* DiskCache.make({ file: path.join(folder, file) })
      for (let index = 0; index < 30; index++) {
        const [key, compute] = use(index)
        const { value } = yield* cache.lookup(key, compute)
        and(index, value.text)
      }
    })
  ).pipe(Effect.provide(Logger.layer([])))

export const cache: Subject = {
  name: "response cache",
  make: (folder) =>
    Effect.runPromise(
      inCache(
        folder,
        (index) => [`key ${index}`, Effect.succeed(answerOf(index))],
        () => {}
      )
    ),
  files: [file],
  use: async (folder) => {
    const looked = inCache(
      folder,
      (index) => [`key ${index}`, Effect.succeed({ ...answerOf(index), text: "asked again" })],
      (index, text) => text === "asked again" || same(`answer ${index}`, text, answerOf(index).text)
    )
    return (await Effect.runPromise(Effect.result(looked)))._tag === "Success" ? "right" : "refused"
  }
}

/** Executes a run and passes its events to a listener. */
const run = (listener: RunEvent.Listener) => {
  const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["one", "two", "three"] })])
  const conductor = Conductor.make({ pool, policy: Baselines.bestOf({ n: 2, judge: "a" }) })
  return Effect.runPromise(conductor.run("Which?", { listener, seed: 1, runId: "run" }))
}

export const transcript: Subject = {
  name: "transcript",
  make: async (folder) => {
    const recorder = Transcript.recorder()
    await run(recorder.listener)
    const made = recorder.transcript()!
    fs.writeFileSync(path.join(folder, "run.json"), Sealed.stringify(made, 2))
    fs.writeFileSync(path.join(folder, "expected"), JSON.stringify(made))
  },
  files: ["run.json"],
  use: async (folder) => {
    const text = fs.readFileSync(path.join(folder, "run.json"), "utf8")
    let opened: object
    try {
      opened = Sealed.parse(text, { isOptional: true })
    } catch (error) {
      if (error instanceof Sealed.DamageError) return "refused"
      throw error
    }
    const read = Wire.readTranscript(opened)
    if (read._tag === "Failure") return "refused"
    const expected = JSON.parse(fs.readFileSync(path.join(folder, "expected"), "utf8"))
    // If the name of a checksum is damaged, the entry has no checksum and an unknown key.
    const found = Object.keys(expected).map((name) => [name, read.success[name as keyof typeof read.success]])
    same("transcript", Object.fromEntries(found), expected)
    return "right"
  }
}

export const events: Subject = {
  name: "events of a run",
  make: async (folder) => {
    const lines: Array<string> = []
    await run((event) => lines.push(Wire.encodeRunEvent(event)))
    fs.writeFileSync(path.join(folder, "events.ndjson"), `${lines.join("\n")}\n`)
  },
  files: ["events.ndjson"],
  use: async (folder) => {
    const read = Wire.decodeRunEvents(fs.readFileSync(path.join(folder, "events.ndjson"), "utf8"))
    if (read._tag === "Failure") return "refused"
    // Events have no checksum, so some may be changed or missing. The remaining ones always form a transcript.
    const folded = Transcript.fromEvents(read.success)
    if (folded === undefined) return "right"
    for (const time of [folded.startedAt, Transcript.endOf(folded)]) {
      const shown = Wire.decodeTranscript(Wire.encodeTranscript(Transcript.at(folded, time)))
      if (shown._tag === "Failure") throw new Broken(shown.failure.message)
    }
    return "right"
  }
}

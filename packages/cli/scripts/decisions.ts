/**
 * How long a router takes to decide: from the text of a question to the worker that is asked.
 *
 * `node --conditions=@divisi/source packages/cli/scripts/decisions.ts FILE ENCODER`
 *
 * FILE holds graded answers, as for `divisi bench routing`; ENCODER is a folder with the files of a sentence encoder, as
 * `SentenceEncoder.convert` takes them. Tables are learned from 2,000 questions with hashed words, and from 100 with the
 * encoder, and other questions are decided on, one after the other, on one thread: 1,000 with hashed words, and 300 with
 * the encoder, on each of which it decides in every way of being stored and cut. Prints JSON.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Embedder, Seed } from "@divisi/core"
import { SentenceEncoder } from "@divisi/gguf"
import { LlamaCppEmbeddings } from "@divisi/policy-llamacpp"
import { Outcomes, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** How the encoder is stored, and after how many tokens texts are cut; the last is what the command line does. */
const ways = [
  { type: "F16", contextTokens: 256 },
  { type: "Q8_0", contextTokens: 256 },
  { type: "F16", contextTokens: 48 },
  { type: "Q8_0", contextTokens: 48 }
] as const

/** A contender: its name, and its decision for a text. */
interface Decider {
  readonly name: string
  readonly decide: (text: string) => Effect.Effect<unknown, Embedder.EmbedderError>
}

const learned = (name: string, embedder: Embedder.Embedder, questions: ReadonlyArray<Outcomes.GradedQuestion>) =>
  Effect.gen(function* () {
    const examples = yield* Outcomes.examples(questions, embedder)
    const decide = Router.decider(Result.getOrThrow(Table.fit(examples, { embedder: embedder.name })))
    return {
      name,
      decide: (text) => Effect.map(embedder.embed([text]), ([point]) => decide(point!))
    } satisfies Decider
  })

/** Has all decide on each question, one after the other, and says how long each took. */
const timed = (deciders: ReadonlyArray<Decider>, questions: ReadonlyArray<Outcomes.GradedQuestion>) =>
  Effect.gen(function* () {
    const taken = deciders.map(() => [] as Array<{ readonly wall: number; readonly cpu: number }>)
    for (const { text } of questions) {
      for (const [index, { decide }] of deciders.entries()) {
        const [from, before] = [performance.now(), process.cpuUsage()]
        yield* decide(text!)
        const { system, user } = process.cpuUsage(before)
        taken[index]!.push({ wall: performance.now() - from, cpu: (system + user) / 1000 })
      }
    }
    return deciders.map(({ name }, index) => {
      // The first ones are compiled.
      const measured = taken[index]!.slice(questions.length / 10)
      const figures = (field: "wall" | "cpu") => {
        const sorted = measured.map((one) => one[field]).sort((left, right) => left - right)
        const at = (share: number) => Number(sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3))
        return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) }
      }
      // On a busy machine, wall times include the load of other processes; CPU times do not.
      return { name, decisions: measured.length, wallMillis: figures("wall"), cpuMillis: figures("cpu") }
    })
  })

const program = Effect.gen(function* () {
  const [file, encoder] = process.argv.slice(2) as [string, string]
  const read = yield* Outcomes.read(file, { onUnusable: () => {} })
  const questions = Seed.shuffled(
    Seed.draw(0),
    read.filter(({ text }) => text !== undefined)
  )
  const characters = questions.map(({ text }) => text!.length).sort((left, right) => left - right)
  const hashed = yield* learned("hashed words", Embedder.hashed(), questions.slice(0, 2_000))
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-decisions-"))),
    (place) => Effect.sync(() => fs.rmSync(place, { recursive: true, force: true }))
  )
  const encoders: Array<Decider> = []
  for (const { contextTokens, type } of ways) {
    const source = path.join(folder, `${type}.gguf`)
    yield* SentenceEncoder.convert(encoder, source, { type })
    const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", threads: 1, contextTokens })
    const own = Embedder.fromPromise(type, embed, { batch: 1 })
    encoders.push(yield* learned(`${type}, ${contextTokens} tokens`, own, questions.slice(0, 100)))
  }
  return {
    file: path.basename(file),
    medianCharacters: characters[Math.floor(characters.length / 2)],
    measured: [
      ...(yield* timed([hashed], questions.slice(2_000, 3_000))),
      ...(yield* timed(encoders, questions.slice(2_000, 2_300)))
    ]
  }
}).pipe(Effect.scoped)

process.stdout.write(`${JSON.stringify(await Effect.runPromise(program), undefined, 2)}\n`)

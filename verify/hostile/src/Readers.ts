/** All public parsers, each as a function of text. Rejecting input with a typed error counts as success. */

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { BlockView, PlainView } from "@divisi/cli"
import { AnswerText, Baselines, Critic, Grader, type RunEvent, Topology, Transcript, WorkflowText } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { WorkerStream } from "@divisi/core/streams"
import * as Task from "@divisi/core/Task"
import * as Wire from "@divisi/core/Wire"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { JsonLines } from "@divisi/files"
import { LoraAdapter, Safetensors } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { Graders, JudgeGrader } from "@divisi/graders"
import { GymGrader, GymQuestion } from "@divisi/gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import { Endpoint, VendorError, VendorEvents } from "@divisi/provider-kit"
import * as Vendor from "@divisi/recipes/Vendor"
import * as WorkflowPicture from "@divisi/report/WorkflowPicture"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as OfBenchmarks from "./benchmarks.ts"
import * as OfConfigs from "./configs.ts"
import * as OfHuggingFace from "./huggingFace.ts"
import * as OfPrograms from "./programs.ts"

/** A reader of text. */
export interface Reader {
  readonly name: string
  readonly read: (text: string) => unknown
  /** The maximum number of characters that it reads, if it skips longer inputs: the texts of the test are longer. */
  readonly bound?: number | undefined
  /** Whether the short form uses only a few shapes, because the reader takes long for each. */
  readonly isSlow?: boolean | undefined
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-hostile-"))
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }))

/** Runs an effect; its typed errors are well, its defects are thrown. */
const run = <A, E>(effect: Effect.Effect<A, E>): Promise<unknown> => Effect.runPromise(Effect.result(effect))

/** A reader of a file of a name, which holds `content`. */
const ofFile =
  (
    name: string,
    read: (file: string) => Effect.Effect<unknown, unknown>,
    content: (text: string) => string | Uint8Array
  ) =>
  (text: string) => {
    const file = path.join(folder, name)
    fs.writeFileSync(file, content(text))
    return run(read(file))
  }

const safetensors = (header: string) => {
  const json = Buffer.from(header)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([length, json])
}

/** The header of a GGUF file that has a text as a value, and each of its words in an array. */
const gguf = (text: string) => {
  const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  const uint64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
  const string = (value: string) => Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)])
  const words = text.split(" ").slice(0, 4_000_000)
  return Buffer.concat([
    Buffer.from("GGUF"),
    ...[uint32(3), uint64(0), uint64(2), string("general.name"), uint32(8), string(text)],
    ...[string("tokens"), uint32(9), uint32(8), uint64(words.length), ...words.map(string)]
  ])
}

/**
 * A text with a given token count: a scripted worker would split it into words to count them, which takes longer than
 * reading it.
 */
const saying = (text: string): ScriptedWorker.Reply => ({
  parts: [
    { type: "text", text },
    { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
  ]
})

const speaker = (id: string, text: string) => ScriptedWorker.make({ id, replies: [saying(text)] })

const pool = (reply: string, count = 1) =>
  WorkerPool.makeUnsafe(Array.from({ length: count }, (_, index) => speaker(`w${index}`, reply)))

/** Refused calls are not repeated: waiting between attempts would take longer than reading. */
const retry = { maxAttempts: 1 }

/** A run whose steps vote; each answers with the text. */
const vote = (text: string) =>
  run(Conductor.make({ policy: Baselines.selfConsistency({ n: 3 }), pool: pool(text), retry }).run("?"))

/** An answer in small pieces, a call that fails near its end, and the same pieces again. */
const repeatedAnswer = (text: string) => {
  const pieces = Array.from({ length: Math.ceil(text.length / 16) }, (_, at) => text.slice(16 * at, 16 * at + 16))
  let state = AnswerText.start({ maxRounds: 1 })
  const emit = (event: object) => {
    state = AnswerText.emit(state, { runId: "r", at: 0, ...event } as RunEvent.RunEvent)[0]
  }
  const steps = [{ worker: 0, subtask: "", access: [] }]
  emit({ type: "run-started" })
  emit({ type: "workflow-proposed", workflow: { steps } })
  for (const _ of ["once", "again"]) {
    for (const piece of pieces) emit({ type: "step-delta", step: 0, kind: "text", text: piece })
    emit({ type: "call-failed", step: 0 })
  }
  return state
}

const graded = (grader: Grader.Grader) => (text: string) =>
  Promise.all([
    run(grader.grade(Task.make({ question: "?", reference: "42" }), text)),
    run(grader.grade(Task.make({ question: "?", reference: "B" }), text))
  ])

/** The graders that read texts in this process. Programs are graded in a sandbox, which has its own limits. */
const inProcess = Graders.names.filter((name) => !/code/.test(name))

const judged = (text: string) => {
  const judge = JudgeGrader.make({ worker: speaker("j", text) })
  return run(judge.grade(Task.make({ question: text, reference: text }), text))
}

const criticised = (text: string) => {
  const critic = Critic.fromWorker(speaker("c", text))
  const conductor = Conductor.make({ policy: Baselines.single(0), pool: pool("a"), critic, recursion: 1, retry })
  return run(conductor.run("?"))
}

const byWords = (text: string) =>
  run(Conductor.make({ policy: LexicalPolicy.make(), pool: GymPool.make({ latencyMillis: 0 }), retry }).run(text))

const solved = (text: string) => {
  const { workers } = GymPool.make({ latencyMillis: 0 })
  return Promise.all(
    workers.map((worker) =>
      run(Stream.runDrain(WorkerStream.generate(worker, { messages: [{ role: "user", content: text }] })))
    )
  )
}

const tokenizer = Tokenizer.train(["the answer is the answer aaaaaaaa ((((((((  \n\n\n\n"], { merges: 40 })

const plan = (mode: "strict" | "tolerant") => (text: string) =>
  WorkflowText.read(text, { poolSize: 7, maxSteps: 64, mode })

const drawn = (text: string) => {
  const workflow = { steps: [{ worker: 0, subtask: text, access: [] }] }
  return [
    Topology.toMermaid(Topology.make(workflow)),
    Topology.toDot(Topology.make(workflow)),
    WorkflowText.write(workflow),
    WorkflowPicture.render(workflow, text)
  ]
}

const screen: BlockView.Screen = { width: 80, height: 24, now: 0 }

/** A run whose plan and answer are the text, printed as for terminals, pipes and files. */
const shown = async (text: string) => {
  const plan = Policy.fixed("told", () => ({ steps: [{ worker: 0, subtask: text, access: [] }] }))
  const { listener, transcript: told } = Transcript.recorder()
  await Effect.runPromise(Conductor.make({ policy: plan, pool: pool(text), retry }).run(text, { listener }))
  const transcript = told()!
  return [
    BlockView.toPlainText(BlockView.live(transcript, screen)),
    BlockView.toPlainText(BlockView.final(transcript, 80)),
    PlainView.entries(transcript)
  ]
}

/** An address from an environment variable. Invalid ones are refused. */
const address = (text: string) => {
  try {
    Endpoint.make({ worker: "w", baseURL: `https://example.org/${text}`, key: text })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

/** A vendor's stream, in chunks of a network. Events that are not JSON are refused. */
const streamed =
  (events: typeof VendorEvents.lines, prefix: string) =>
  async (text: string): Promise<void> => {
    const whole = new TextEncoder().encode(`${prefix}${text}`)
    const body = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < whole.length; at += 4096) controller.enqueue(whole.subarray(at, at + 4096))
        controller.close()
      }
    })
    try {
      for await (const _ of events(new Response(body), new AbortController().signal));
    } catch (error) {
      if (!(error instanceof VendorError.Failure)) throw error
    }
  }

/** All of them. */
export const all: ReadonlyArray<Reader> = [
  { name: "plan, strict", read: plan("strict") },
  { name: "plan, tolerant", read: plan("tolerant") },
  { name: "plan, drawn and written", read: drawn },
  { name: "views of a run", read: shown, isSlow: true },
  { name: "name of a model", read: Vendor.parse },
  { name: "base URL", read: address },
  { name: "vote", read: vote },
  { name: "answer that is repeated", read: repeatedAnswer },
  { name: "critic", read: criticised },
  { name: "event", read: Wire.decodeRunEvent },
  { name: "events", read: Wire.decodeRunEvents },
  { name: "transcript", read: Wire.decodeTranscript },
  { name: "task", read: Wire.decodeTask },
  { name: "workflow", read: Wire.decodeWorkflow },
  { name: "task's id", read: (text) => Task.make(text) },
  { name: "grader exact", read: graded(Grader.exact) },
  { name: "grader gym", read: graded(GymGrader.grader) },
  ...inProcess.map((name) => ({ name: `grader ${name}`, read: graded(Graders.named(name)!), bound: 20_000 })),
  { name: "judge", read: judged },
  { name: "policy lexical", read: byWords, bound: 10_000 },
  { name: "question of the gym", read: GymQuestion.isUnderstood },
  // Of 8,192 tokens, at four characters for each.
  { name: "workers of the gym", read: solved, bound: 32_768 },
  { name: "vendor's error", read: (text) => VendorError.detail(text, ["secret"]) },
  { name: "vendor's events", read: streamed(VendorEvents.serverSent, "") },
  { name: "vendor's event", read: streamed(VendorEvents.serverSent, "data: ") },
  { name: "vendor's lines", read: streamed(VendorEvents.lines, "") },
  {
    name: "lines of JSON",
    read: ofFile(
      "lines.jsonl",
      (file) => Stream.runDrain(JsonLines.read(file, { isComplete: true })),
      (text) => text
    )
  },
  {
    name: "line of JSON",
    read: ofFile(
      "line.jsonl",
      (file) => Stream.runDrain(JsonLines.read(file)),
      (text) => `${JSON.stringify(text.replaceAll("\n", " "))}\n`
    )
  },
  { name: "tokens", read: (text) => Tokenizer.decode(tokenizer, Tokenizer.encode(tokenizer, text)) },
  { name: "control tokens", read: (text) => Tokenizer.encode(tokenizer, text, { controlTokens: true }) },
  { name: "merges", read: (text) => Tokenizer.make({ merges: text.split("\n") }) },
  { name: "GGUF", read: ofFile("a.gguf", GgufReader.read, gguf) },
  { name: "GGUF of text", read: ofFile("b.gguf", GgufReader.read, (text) => `GGUF\u0003\0\0\0${text}`) },
  { name: "safetensors", read: ofFile("a.safetensors", Safetensors.read, safetensors) },
  {
    name: "adapter's config",
    read: ofFile(
      "adapter_config.json",
      () => LoraAdapter.read(folder),
      (text) => text
    )
  },
  ...OfPrograms.all,
  ...OfBenchmarks.all(folder),
  ...OfConfigs.all(folder),
  ...(await OfHuggingFace.all(folder))
]

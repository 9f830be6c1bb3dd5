/**
 * Trains weights that write plans for this pool: `node src/lora.ts data MODEL FOLDER` writes the data for
 * `lora/train.py`, and `node src/lora.ts evaluate MODEL FOLDER` compares the trained adapter with the untrained model.
 * MODEL is the GGUF file of SmolLM2-135M-Instruct.
 */

import fs from "node:fs"
import path from "node:path"
import { LanguagePolicy, Prompt, Task, WorkerPool, WorkflowText } from "@divisi/core"
import type { PlainMessage } from "@divisi/core/Message"
import { conduct, worker } from "@divisi/core/promise"
import { GgufReader, LoraAdapter, Tensor } from "@divisi/gguf"
import { llamacpp } from "@divisi/policy-llamacpp"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { described } from "./Combined.ts"
import { type Answers, usdOf, workers } from "./Policies.ts"
import * as Questions from "./Questions.ts"
import * as Records from "./Records.ts"
import { answersOf } from "./Replay.ts"

type Question = Questions.Question

const [mode, file, folder] = process.argv.slice(2)
if ((mode !== "data" && mode !== "evaluate") || file === undefined || folder === undefined) {
  throw new Error("Usage: lora.ts data|evaluate MODEL FOLDER")
}

// -------------------------------------------------------------------------------------------------------------------
// The form of plans
// -------------------------------------------------------------------------------------------------------------------

const prompt: Prompt.ConductorOptions = {
  examples: [],
  subtasks: false,
  template: {
    ...Prompt.emptyTemplate,
    role: "You are a Conductor. Write a plan as three Python lists of equal length: model_id, subtasks, access_list.",
    question: "Question:\n{question}"
  }
}

/** SmolLM2's chat template, without its default system message. */
const chat = (messages: ReadonlyArray<PlainMessage>): string =>
  `${messages.map(({ content, role }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join("")}<|im_start|>assistant\n`

const maxOutputTokens = 96

/** The plan of one step, which asks a worker the question itself. */
const planOf = (name: string): string =>
  WorkflowText.write({ steps: [{ worker: workers.indexOf(name), subtask: "", access: [] }] }).trimEnd()

const placeOf = ({ id }: Question): number => Number(id.split("/").at(-1))

/** Of each five seen questions two are held out, and all unseen ones. */
const isHeldOut = (question: Question): boolean => !Questions.isSeen(question.kind) || placeOf(question) % 5 >= 3

/** The questions that are used: ten of each seen kind, and four of each unseen one. */
const isUsed = (question: Question): boolean => placeOf(question) < (Questions.isSeen(question.kind) ? 10 : 4)

const byQuestion = answersOf(Records.read())
const asked = Questions.read().filter((question) => byQuestion.has(question.id) && isUsed(question))
const pool = described.map(({ description, worker: id }) => worker({ id, description, answer: () => "42" }))

/** The cheapest worker that is right. */
const targetOf = (answers: Answers): string | undefined =>
  workers
    .flatMap((name) => answers.get(name) ?? [])
    .filter(({ correct }) => correct)
    .toSorted((a, b) => usdOf(a) - usdOf(b))
    .map(({ model, way }) => `${model}/${way}`)
    .at(0)

// -------------------------------------------------------------------------------------------------------------------
// Data
// -------------------------------------------------------------------------------------------------------------------

const writeBase = Effect.fnUntraced(function* (file: string, folder: string) {
  const header = yield* GgufReader.read(file)
  const out = fs.openSync(path.join(folder, "base.bin"), "w")
  const index: Record<string, { readonly start: number; readonly shape: ReadonlyArray<number> }> = {}
  let start = 0
  for (const { name, shape } of header.tensors) {
    const tensor = Result.getOrThrow(GgufReader.tensor(header, name))
    const values = yield* Effect.promise(() => Tensor.collect(tensor))
    fs.writeSync(out, values)
    index[name] = { start, shape }
    start += values.length
  }
  fs.closeSync(out)
  fs.writeFileSync(path.join(folder, "base.json"), JSON.stringify(index))
})

const data = Effect.fnUntraced(function* (file: string, folder: string) {
  yield* writeBase(file, folder)
  const model = yield* LlamaCppModel.load({ source: file, gpu: "none", threads: 1, contextTokens: 1024, sequences: 1 })
  const examples = asked.flatMap((question) => {
    const target = targetOf(byQuestion.get(question.id)!)
    if (target === undefined) return []
    const task = Task.make({ id: question.id, question: question.text })
    const messages = Prompt.conductorMessages(
      { task, pool: Result.getOrThrow(WorkerPool.make(pool)), maxSteps: 5, self: false },
      prompt
    )
    return [
      {
        id: question.id,
        isHeldOut: isHeldOut(question),
        prompt: LlamaCppModel.tokenize(model, chat(messages as ReadonlyArray<PlainMessage>), true),
        completion: LlamaCppModel.tokenize(model, `${planOf(target)}<|im_end|>`, true)
      }
    ]
  })
  const [test = [], train = []] = [true, false].map((held) => examples.filter((one) => one.isHeldOut === held))
  fs.writeFileSync(path.join(folder, "data.json"), JSON.stringify({ train, test }))
  process.stdout.write(`${JSON.stringify({ train: train.length, test: test.length, first: planOf(workers[0]!) })}\n`)
})

// -------------------------------------------------------------------------------------------------------------------
// Evaluation
// -------------------------------------------------------------------------------------------------------------------

/** The share of readable plans, and how often the worker of the last step is right, on the held-out questions. */
const evaluate = async (name: string, file: string, grammar: boolean, adapter: string | undefined) => {
  const model = llamacpp(file, {
    id: name,
    gpu: "none",
    threads: 1,
    sequences: 4,
    contextTokens: 1024,
    template: chat,
    temperature: 0,
    maxOutputTokens,
    grammar,
    ...(grammar ? { reasoningTokens: 0 } : {}),
    ...(adapter === undefined ? {} : { adapters: [{ path: adapter }] })
  })
  const policy = LanguagePolicy.make({ model, prompt, maxOutputTokens, resamples: 0 })
  const found = { questions: 0, readable: 0, steps: 0, recorded: 0, right: 0, solvable: 0, usd: 0 }
  const plan = async (question: Question) => {
    const answers = byQuestion.get(question.id)!
    const { transcript } = await conduct({ question: question.text, pool, policy })
    const steps = transcript.rounds[0]?.workflow?.steps
    found.questions++
    if (steps === undefined || steps.length === 0) return
    found.readable++
    found.steps += steps.length
    const record = answers.get(pool[steps.at(-1)!.worker]!.id)
    if (record === undefined) return
    found.recorded++
    found.right += Number(record.correct)
    found.solvable += Number(targetOf(answers) !== undefined)
    found.usd += usdOf(record)
  }
  await Promise.all(asked.filter(isHeldOut).map(plan))
  process.stdout.write(`${JSON.stringify({ name, grammar, ...found })}\n`)
}

if (mode === "data") await Effect.runPromise(Effect.scoped(data(file, folder)))
else {
  const adapter = path.join(folder, "conductor.gguf")
  await Effect.runPromise(LoraAdapter.convert({ folder: path.join(folder, "peft"), base: file, path: adapter }))
  for (const grammar of [false, true]) {
    await evaluate("trained", file, grammar, adapter)
    await evaluate("untrained", file, grammar, undefined)
  }
}
process.exit(0)

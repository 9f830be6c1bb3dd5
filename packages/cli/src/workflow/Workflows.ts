/** `divisi workflow check`, `render` and `read`: parse a model's output as a workflow. */
import type { Workflow } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as StandardInput from "../invocation/StandardInput.ts"
import * as TextFile from "../invocation/TextFile.ts"
import * as Completion from "./Completion.ts"
import type { Format, Reading } from "./flags.ts"

/** Reads a complete file, or standard input if the file is `-`. */
const readText = (file: string): Effect.Effect<string, Failure> =>
  file === "-" ? Effect.map(StandardInput.read(), (text) => text ?? "") : TextFile.named(file, "the completion")

const readWorkflow = (input: Reading) =>
  Effect.gen(function* () {
    const text = yield* readText(input.file)
    const reading = Completion.reader(input)(text)
    if (Result.isSuccess(reading)) return reading.success
    return yield* failed(Completion.showProblem(text, reading.failure))
  })

const print = (text: string) => Effect.sync(() => void stdout.write(`${text}\n`))

/** Runs `divisi workflow check`. */
export const check = Effect.fnUntraced(function* (input: Reading) {
  const { notes, workflow } = yield* readWorkflow(input)
  const { summary } = yield* Effect.promise(() => import("./RenderText.ts"))
  const forgiven = notes.map((note) => `  note: ${note}`)
  yield* print([`Valid: ${summary(workflow)}.`, ...forgiven].join("\n"))
})

const renderers: { readonly [F in Format]: () => Promise<(workflow: Workflow.Workflow) => string> } = {
  text: async () => (await import("./RenderText.ts")).renderText,
  mermaid: async () => {
    const { Topology } = await import("@divisi/core")
    return (workflow) => Topology.toMermaid(Topology.make(workflow)).trimEnd()
  },
  dot: async () => {
    const { Topology } = await import("@divisi/core")
    return (workflow) => Topology.toDot(Topology.make(workflow)).trimEnd()
  },
  svg: async () => {
    const WorkflowPicture = await import("@divisi/report/WorkflowPicture")
    const { summary } = await import("./RenderText.ts")
    return (workflow) => WorkflowPicture.render(workflow, summary(workflow))
  }
}

/** Runs `divisi workflow render`. */
export const render = Effect.fnUntraced(function* (input: Reading & { readonly format: Format }) {
  const { workflow } = yield* readWorkflow(input)
  const draw = yield* Effect.promise(renderers[input.format])
  yield* print(draw(workflow))
})

/** Runs `divisi workflow read`. */
export const read = Effect.fnUntraced(function* (input: Reading) {
  const { workflow } = yield* readWorkflow(input)
  yield* print(JSON.stringify(Completion.toJson(workflow)))
})

/** Runs `divisi workflow read --lines`. */
export const readLines = (input: Reading): Effect.Effect<void, Failure> => {
  const reader = Completion.reader(input)
  return Effect.tryPromise({
    try: async (signal) => (await import("./Lines.ts")).writeResults(reader, input.file, signal),
    catch: (error) => usage(`Cannot read the completions: ${messageOf(error).replace(/\.$/, "")}.`)
  })
}

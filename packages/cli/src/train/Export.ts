/** `divisi train export`: exports the weights of a checkpoint for use in other programs. */

import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ConductorForm from "@divisi/gguf/ConductorForm"
import type { Training } from "@divisi/recipes"
import { RunFolder } from "@divisi/trainer"
import type { ExportFormat } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import type { ExportInput } from "./flags.ts"
import * as Preparation from "./Preparation.ts"
import * as RecipeFile from "./RecipeFile.ts"

const orFail = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, ({ message }) => failed(message))

/**
 * Returns the selected checkpoint. By default, this is the best one, or the last one if no checkpoints were compared.
 */
const choose = (folder: string, wanted: string | undefined): Effect.Effect<number, Failure> =>
  Effect.gen(function* () {
    const all = yield* orFail(RunFolder.checkpoints(folder))
    const last = all.at(-1)
    if (last === undefined) return yield* usage(`The run in ${folder} has no checkpoint yet.`)
    if (wanted === "last") return last
    if (wanted === undefined || wanted === "best") {
      const best = yield* orFail(RunFolder.readBest(folder))
      if (best !== undefined) return best.iteration
      return wanted === undefined
        ? last
        : yield* usage(
            `The run in ${folder} has no best checkpoint, because it was not evaluated. Use --checkpoint last.`
          )
    }
    if (all.includes(Number(wanted))) return Number(wanted)
    return yield* usage(`Checkpoint ${wanted} does not exist. Available: best, last, ${all.join(", ")}.`)
  })

const checkFormat = (format: ExportFormat, name: string, exports: ReadonlyArray<ExportFormat>) =>
  exports.includes(format)
    ? Effect.void
    : Effect.fail(
        usage(
          exports.length === 0
            ? `The engine ${name} cannot export models. Train with --engine jax or tinker instead.`
            : `The engine ${name} cannot export ${format}. Supported formats: ${exports.join(", ")}.`
        )
      )

/** Returns the prompt format of the last reinforcement learning phase. `undefined` if there is no such phase. */
const formOf = ({ phases, pool }: Training): ConductorForm.ConductorForm | undefined => {
  const last = phases.findLast((phase) => phase.type === "grpo")
  if (last === undefined) return undefined
  const { maxTokens, prompt } = last.rollouts
  return { prompt, maxTokens, workers: WorkerPool.ids(pool) }
}

/** Describes how to run the exported file, for formats supported by llama.cpp. */
const usageOf = (format: ExportFormat, file: string): string => {
  const source = { gguf: file, "gguf-lora": `<base.gguf>+${file}`, peft: undefined }[format]
  return source === undefined ? "" : `Run it with \`divisi run --policy ${quoted(`llamacpp:${source}`)}\`.\n`
}

/** Exports the weights and describes the result. */
export const write = (input: ExportInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
      const asked = yield* RecipeFile.read(input.folder)
      const checkpoint = yield* choose(input.folder, Option.getOrUndefined(input.checkpoint))
      const training = yield* Preparation.prepare(config, asked, { trainsNothing: true })
      const engine = yield* orFail(Preparation.openEngine(training))
      yield* checkFormat(input.to, engine.name, engine.capabilities.exports)
      const state = yield* orFail(RunFolder.readState(input.folder, checkpoint))
      yield* orFail(engine.load(state.engine, RunFolder.checkpointFolder(input, checkpoint)))
      const form = formOf(training)
      const about = form === undefined ? undefined : { [ConductorForm.key]: ConductorForm.encode(form) }
      yield* orFail(engine.export(input.to, input.out, about))
      yield* Effect.sync(() => {
        stdout.write(`${input.out}: ${engine.model} after ${checkpoint} iterations, as ${input.to}\n`)
        process.stderr.write(usageOf(input.to, input.out))
      })
    })
  )

/**
 * Models trained as Conductors: a GGUF file or adapter that contains its prompt settings.
 *
 * A model is named as elsewhere in this package. Adapters are appended to the name, each after a plus sign:
 * `qwen2.5-7b-instruct+conductor.gguf`.
 */
import fs from "node:fs"
import * as ConductorForm from "@divisi/gguf/ConductorForm"
import * as GgufReader from "@divisi/gguf/GgufReader"
import * as Effect from "effect/Effect"
import * as KnownModels from "./knownModels.ts"
import * as Errors from "./LlamaCppError.ts"
import type { Adapter } from "./LlamaCppModel.ts"
import * as ModelStore from "./ModelStore.ts"

/** A model name, and the names of the adapters applied to it. */
export interface Named {
  readonly source: string
  readonly adapters: ReadonlyArray<Adapter>
}

/**
 * Splits a model name from the names of its adapters.
 *
 * **Example**
 *
 * ```ts
 * import { TrainedConductor } from "@divisi/policy-llamacpp"
 *
 * TrainedConductor.parse("qwen2.5-7b-instruct+mine.gguf") // => { source: "qwen2.5-7b-instruct", adapters: [{ path: "mine.gguf" }] }
 * ```
 */
export const parse = (name: string): Named => {
  const [source = "", ...adapters] = fs.existsSync(name) ? [name] : name.split("+")
  return { source, adapters: adapters.map((path) => ({ path })) }
}

const readHeader = (file: string) =>
  Effect.mapError(GgufReader.read(file), ({ message }) =>
    Errors.make(file, fs.existsSync(file) ? { _tag: "Damaged", detail: message } : { _tag: "Missing" })
  )

/**
 * Returns the prompt settings that a model was trained with, if any, from its last adapter or from the model itself.
 * Known models have no prompt settings. Any other missing model is downloaded, because it will be needed anyway.
 */
export const form = Effect.fnUntraced(function* (
  name: string,
  options: ModelStore.Options = {}
): Effect.fn.Return<ConductorForm.ConductorForm | undefined, Errors.LlamaCppError> {
  const { adapters, source } = parse(name)
  if (adapters.length === 0 && KnownModels.find(source) !== undefined) return undefined
  const file = adapters.at(-1)?.path ?? (yield* ModelStore.resolve(source, options))
  const header = yield* readHeader(file)
  if (adapters.length === 0 && GgufReader.text(header, "general.type") === "adapter") {
    const detail = `it is an adapter: put its base model before it, as in base.gguf+${source}.`
    return yield* Errors.make(file, { _tag: "Setting", detail })
  }
  const text = GgufReader.text(header, ConductorForm.key)
  return text === undefined
    ? undefined
    : yield* Effect.mapError(Effect.fromResult(ConductorForm.decode(text)), ({ message }) =>
        Errors.make(file, { _tag: "Setting", detail: message })
      )
})

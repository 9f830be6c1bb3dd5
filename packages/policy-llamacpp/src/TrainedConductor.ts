/**
 * Models that were trained as Conductors: a GGUF file, or an adapter for one, that carries the form of its prompt.
 *
 * A model is named as everywhere in this package; with adapters behind it, each after a plus:
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

/** A model, and the adapters on top of it. */
export interface Named {
  readonly source: string
  readonly adapters: ReadonlyArray<Adapter>
}

/**
 * Reads the name of a model with its adapters.
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
 * Returns the form in which a model was trained, if it has one: that of its last adapter, or its own. Models known by
 * name have no form. Any other missing model is downloaded, because it is needed anyway.
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

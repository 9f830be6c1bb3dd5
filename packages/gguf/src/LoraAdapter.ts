/**
 * Reads LoRA adapters in PEFT format, and writes them in the format that llama.cpp loads on top of a base model.
 *
 * An adapter adds `b · a · alpha / rank` to the weight of a linear layer. It only works with the model that it was
 * trained on, so {@link write} checks the names and shapes of its matrices against that model's file and reports any
 * mismatch before llama.cpp loads it.
 */

import path from "node:path"
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import * as GgufReader from "./GgufReader.ts"
import * as GgufWriter from "./GgufWriter.ts"
import { type AdapterConfig, endingsOf, parse } from "./internal/adapterConfig.ts"
import { use } from "./internal/fileSource.ts"
import { isReordered, targetOf } from "./internal/layout.ts"
import { interleave } from "./internal/rotary.ts"
import * as Metadata from "./Metadata.ts"
import * as Model from "./Model.ts"
import * as Safetensors from "./Safetensors.ts"
import * as Tensor from "./Tensor.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The base model architectures that adapters can be written for.
 *
 * @internal
 */
export const architectures = [...Model.architectures, "qwen3"] as const

/** The low-rank update of one linear layer. */
export interface Change {
  /** The matrix `a`, with the shape `[rank, in]`. */
  readonly a: Tensor.Tensor
  /** The matrix `b`, with the shape `[out, rank]`. */
  readonly b: Tensor.Tensor
  /** The scaling constant: the update is `b · a · alpha / rank`. */
  readonly alpha: number
}

/** A LoRA adapter. */
export interface LoraAdapter {
  /** Updates keyed by Hugging Face module name, such as `model.layers.0.self_attn.q_proj`. */
  readonly changes: Readonly<Record<string, Change>>
  /** Display name of the adapter. */
  readonly name?: string | undefined
  /** The base model's name, as recorded by the trainer. */
  readonly baseModel?: string | undefined
}

/** Options for {@link write}. */
export interface WriteOptions {
  /** Header of the base model's file. See {@link base}. */
  readonly base: GgufReader.GgufFile
  /** Storage type of the matrices. Default: `"F32"`. */
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata to write. */
  readonly metadata?: Metadata.Metadata | undefined
}

const storage = { type: GgufWriter.floatType, metadata: Tables.anObject }

const writeTable = Tables.table({ ...storage, base: Tables.anObject } satisfies Tables.ShapeOf<WriteOptions>, {
  required: ["base"]
})

const convertTable = Tables.table(
  { ...storage, folder: Tables.name, base: Tables.name, path: Tables.name },
  { required: ["folder", "base", "path"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const invalid = (tensor: string, detail: string) => Errors.make({ _tag: "InvalidTensor", tensor, detail })

/** Maximum length of a tensor name, in characters. */
const longestName = 256

const pairs = (file: Safetensors.Safetensors) => {
  const modules = new Map<string, Partial<Pick<Change, "a" | "b">>>()
  for (const [name, tensor] of Object.entries(file.tensors)) {
    if (name.length > longestName) throw invalid(name.slice(0, 80), `Its name has ${name.length} characters.`)
    const match = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/.exec(name)
    if (match === null) throw invalid(name, "It is not a LoRA matrix (lora_A or lora_B), so it would be lost.")
    const [, module = "", side] = match
    modules.set(module, { ...modules.get(module), [side === "A" ? "a" : "b"]: tensor })
  }
  return modules
}

const changeOf = (module: string, { a, b }: Partial<Change>, config: AdapterConfig): Change => {
  const name = (side: string) => `base_model.model.${module}.lora_${side}.weight`
  if (a === undefined) throw invalid(name("A"), "The tensor is missing, but its counterpart lora_B exists.")
  if (b === undefined) throw invalid(name("B"), "The tensor is missing, but its counterpart lora_A exists.")
  const rank = checkedRank(module, { a, b })
  if (!config.hasRankPattern && rank !== config.rank) {
    throw invalid(name("A"), `Its rank is ${rank}; the adapter's config says ${config.rank}.`)
  }
  return { a, b, alpha: config.alphaOf(module, rank) }
}

/** Returns the rank of an update. Throws a `GgufError` if the matrices cannot be multiplied. */
const checkedRank = (module: string, { a, b }: Pick<Change, "a" | "b">): number => {
  const [rank = 0] = a.shape
  if (a.shape.length === 2 && b.shape.length === 2 && rank > 0 && b.shape[1] === rank) return rank
  throw invalid(`${module}.lora_B`, `Its shape [${b.shape}] and that of lora_A, [${a.shape}], have no rank in common.`)
}

const checkTargets = (modules: Iterable<string>, targets: ReadonlyArray<string>) => {
  const found = new Set(Array.from(modules, endingsOf).flat())
  const missing = targets.find((target) => !found.has(target))
  if (missing === undefined && found.size > 0) return
  const detail = `the config says that "${missing ?? "lora"}" was trained, but the weights do not contain it.`
  throw Errors.make({ _tag: "Corrupt", detail })
}

const assemble = (file: Safetensors.Safetensors, config: AdapterConfig, name: string): LoraAdapter => {
  const modules = pairs(file)
  checkTargets(modules.keys(), config.targetModules ?? [])
  const changes = Array.from(modules, ([module, pair]) => [module, changeOf(module, pair, config)] as const)
  const { baseModel } = config
  return { changes: Object.fromEntries(changes), name, baseModel }
}

const attempt = <A>(file: string, run: () => A | Promise<A>) =>
  Effect.tryPromise({ try: async () => run(), catch: (cause) => Errors.fromUnknown(cause, file, "read the adapter") })

/** Maximum size of a configuration file, in bytes. */
const longestConfig = 2 ** 20

const readConfig = (file: string): Effect.Effect<AdapterConfig, GgufError> =>
  use(file, async ({ read, size }) => {
    if (size > longestConfig) throw Errors.make({ _tag: "Corrupt", detail: `it has ${size} bytes.` })
    return parse(new TextDecoder().decode(await read(0, size)))
  })

/**
 * Reads an adapter in PEFT format: a folder with `adapter_config.json` and `adapter_model.safetensors`.
 *
 * **Details**
 *
 * Supports rank-stabilized LoRA, and ranks and alphas for individual layers. Features that llama.cpp cannot represent
 * (DoRA, trained biases, fully saved layers) are rejected by name and never ignored.
 */
export const read = (folder: string): Effect.Effect<LoraAdapter, GgufError> =>
  Effect.gen(function* () {
    const configFile = path.join(folder, "adapter_config.json")
    const weightsFile = path.join(folder, "adapter_model.safetensors")
    const config = yield* readConfig(configFile)
    const file = yield* Safetensors.read(weightsFile)
    return yield* attempt(weightsFile, () => assemble(file, config, path.basename(path.resolve(folder))))
  })

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/** An update together with the name of the tensor that it applies to. */
interface Placed extends Change {
  readonly target: string
  /** Number of rows per attention head, if the rows must be reordered. */
  readonly headRows?: number | undefined
}

const headRowsOf = (base: GgufReader.GgufFile, target: string, rows: number): number => {
  const key = target.includes("attn_q") ? "attention.head_count" : "attention.head_count_kv"
  const heads = GgufReader.number(base, `${GgufReader.architecture(base)}.${key}`)
  if (heads !== undefined && rows % heads === 0) return rows / heads
  const detail = `Its heads differ from layer to layer ("${key}"), so the rows of ${target} cannot be put in order.`
  throw Errors.make({ _tag: "Unsupported", detail }, base.path)
}

const absence = (module: string, target: string) =>
  module === "lm_head"
    ? "it changes the output layer, which in this model is the embedding and cannot be changed alone."
    : `it changes ${module}, but the model has no ${target}.`

/** Finds the base model's tensor that an update applies to. Throws a `GgufError` if it does not exist. */
const place = (base: GgufReader.GgufFile, architecture: string, module: string, change: Change): Placed => {
  const otherBase = (detail: string) => Errors.make({ _tag: "OtherBase", base: base.path, detail })
  const rank = checkedRank(module, change)
  if (!Number.isFinite(change.alpha) || change.alpha === 0) {
    throw invalid(module, `Its alpha is ${change.alpha}: llama.cpp would apply it unscaled.`)
  }
  const target = targetOf(module)
  if (target === undefined) throw invalid(module, "It is not a linear layer that llama.cpp can change with an adapter.")
  const tensor = base.tensors.find(({ name }) => name === target)
  if (tensor === undefined) throw otherBase(absence(module, target))
  const shape = [change.b.shape[0], change.a.shape[1]]
  if (tensor.shape.join() !== shape.join()) {
    throw otherBase(`its change of ${module} (rank ${rank}) is [${shape}], the model's ${target} [${tensor.shape}].`)
  }
  const placed = { ...change, target }
  if (!isReordered(architecture, target)) return placed
  return { ...placed, headRows: headRowsOf(base, target, tensor.shape[0]!) }
}

async function* scale(chunks: Tensor.Chunks, factor: number): AsyncGenerator<Float32Array> {
  for await (const chunk of chunks) yield chunk.map((value) => value * factor)
}

/**
 * Creates the two tensors of an update. A file has a single alpha, so an update with a different alpha is rescaled in
 * `b`.
 */
const tensorsOf = ({ a, alpha, b, headRows, target }: Placed, fileAlpha: number, type: GgufWriter.FloatType) => {
  const rank = a.shape[0]!
  const rows = () => (headRows === undefined ? Tensor.chunks(b) : interleave(Tensor.chunks(b), headRows, rank))
  const data = alpha === fileAlpha ? rows : () => scale(rows(), alpha / fileAlpha)
  return [
    { ...a, name: `${target}.lora_a`, type },
    { shape: b.shape, data, name: `${target}.lora_b`, type }
  ]
}

/** Returns the architecture of a base model. Throws a `GgufError` if adapters for it are not supported. */
const architectureOf = (base: GgufReader.GgufFile): string => {
  const architecture = architectures.find((name) => name === GgufReader.architecture(base))
  if (architecture === undefined) {
    const detail = `The base is "${GgufReader.architecture(base)}"; adapters are written for ${architectures.join(", ")}.`
    throw Errors.make({ _tag: "Unsupported", detail }, base.path)
  }
  const parts = GgufReader.number(base, "split.count") ?? 1
  if (parts > 1) {
    const detail = `The base is one of ${parts} parts: join them with llama-gguf-split, or pass the joined file.`
    throw Errors.make({ _tag: "Unsupported", detail }, base.path)
  }
  return architecture
}

/**
 * Reads the header of a base model, and fails if adapters cannot be written for it. Call it before training, to find
 * out early.
 */
export const base = (file: string): Effect.Effect<GgufReader.GgufFile, GgufError> =>
  Effect.tap(GgufReader.read(file), (base) => attempt(file, () => architectureOf(base)))

const contentsOf = ({ changes, name = "lora" }: LoraAdapter, options: WriteOptions): GgufWriter.Contents => {
  const { base, type = "F32" } = options
  const architecture = architectureOf(base)
  const placed = Object.entries(changes).map(([module, change]) => place(base, architecture, module, change))
  const [first] = placed
  if (first === undefined) throw Errors.make({ _tag: "Corrupt", detail: "the adapter changes nothing." })
  return {
    metadata: {
      "general.architecture": Metadata.string(architecture),
      "general.type": Metadata.string("adapter"),
      "general.name": Metadata.string(name),
      "general.file_type": Metadata.uint32(type === "F32" ? 0 : 1),
      "adapter.type": Metadata.string("lora"),
      "adapter.lora.alpha": Metadata.float32(first.alpha),
      ...options.metadata
    },
    tensors: placed.flatMap((change) => tensorsOf(change, first.alpha, type))
  }
}

/**
 * Writes an adapter for the model in `base` as a GGUF file. Fails without writing anything if it does not fit the
 * model.
 */
export const write = (
  adapter: LoraAdapter,
  file: string,
  options: WriteOptions
): Effect.Effect<GgufWriter.Written, GgufError> => {
  Tables.check("LoraAdapter.write", options, writeTable)
  return attempt(file, () => contentsOf(adapter, options)).pipe(
    Effect.flatMap((contents) => GgufWriter.write(file, contents))
  )
}

/**
 * Converts an adapter from PEFT format to a GGUF file.
 *
 * **Example**
 *
 * ```ts no-run
 * import { LoraAdapter } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 *
 * await Effect.runPromise(
 *   LoraAdapter.convert({ folder: "checkpoints/200", base: "qwen2.5-7b-instruct-q4_k_m.gguf", path: "conductor.gguf" })
 * )
 * ```
 */
export const convert = (options: {
  /** Folder that contains the adapter in PEFT format. */
  readonly folder: string
  /** GGUF file of the base model that the adapter was trained on. It may be quantized. */
  readonly base: string
  /** Path of the adapter file to write. */
  readonly path: string
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata to write. */
  readonly metadata?: Metadata.Metadata | undefined
}): Effect.Effect<GgufWriter.Written, GgufError> => {
  Tables.check("LoraAdapter.convert", options, convertTable)
  return Effect.gen(function* () {
    const { metadata, type = "F32" } = options
    const adapter = yield* read(options.folder)
    return yield* write(adapter, options.path, { base: yield* base(options.base), type, metadata })
  })
}

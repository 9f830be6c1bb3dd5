/**
 * LoRA adapters: read in PEFT's format, and written in the format that llama.cpp loads on top of a base model.
 *
 * An adapter changes a linear layer's weight by `b · a · alpha / rank`. It fits only the model that it was trained on:
 * {@link write} checks the names and shapes of its matrices against that model's file, so that a mismatch is found
 * before llama.cpp loads it.
 */

import path from "node:path"
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

/** The architectures of the models that adapters can be written for. */
export const architectures = [...Model.architectures, "qwen3"] as const

/** The change of one linear layer. */
export interface Change {
  /** The matrix `a`, with the shape `[rank, in]`. */
  readonly a: Tensor.Tensor
  /** The matrix `b`, with the shape `[out, rank]`. */
  readonly b: Tensor.Tensor
  /** The scale: the change is `b · a · alpha / rank`. */
  readonly alpha: number
}

/** An adapter. */
export interface LoraAdapter {
  /** The changes by layer, with Hugging Face's names, such as `model.layers.0.self_attn.q_proj`. */
  readonly changes: Readonly<Record<string, Change>>
  /** The adapter's name, for display. */
  readonly name?: string | undefined
  /** The trainer's name for the base model. */
  readonly baseModel?: string | undefined
}

/** Options for writing an adapter. */
export interface WriteOptions {
  /** The model that the adapter is for. */
  readonly base: GgufReader.GgufFile
  /** The storage type of matrices. Default: `"F32"`. */
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata. */
  readonly metadata?: Metadata.Metadata | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const invalid = (tensor: string, detail: string) => Errors.make({ _tag: "InvalidTensor", tensor, detail })

/** The most characters of a tensor's name. */
const longestName = 256

const pairs = (file: Safetensors.Safetensors) => {
  const modules = new Map<string, Partial<Pick<Change, "a" | "b">>>()
  for (const [name, tensor] of Object.entries(file.tensors)) {
    if (name.length > longestName) throw invalid(name.slice(0, 80), `Its name has ${name.length} characters.`)
    const match = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/.exec(name)
    if (match === null) throw invalid(name, "It is not one of the two matrices of a LoRA, and would be lost.")
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

/** The rank of two matrices, checked to be multipliable. */
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

/** The most bytes of a configuration. */
const longestConfig = 2 ** 20

const readConfig = (file: string): Effect.Effect<AdapterConfig, GgufError> =>
  use(file, async ({ read, size }) => {
    if (size > longestConfig) throw Errors.make({ _tag: "Corrupt", detail: `it has ${size} bytes.` })
    return parse(new TextDecoder().decode(await read(0, size)))
  })

/**
 * Reads an adapter in PEFT's format: a folder with `adapter_config.json` and `adapter_model.safetensors`.
 *
 * **Details**
 *
 * Ranks and alphas of single layers, by name, and rank-stabilized LoRA are supported. Features without a counterpart in
 * llama.cpp (DoRA, trained biases, whole saved layers) are rejected by name, never ignored.
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

/** A change under the name of the tensor that it changes. */
interface Placed extends Change {
  readonly target: string
  /** The number of rows of a head, if its rows are reordered. */
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

/** Returns the tensor of the base that a change belongs to. Throws a `GgufError` if it belongs to none. */
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

/** The two tensors of a change. A file has one alpha, so a change that has another carries it in `b`. */
const tensorsOf = ({ a, alpha, b, headRows, target }: Placed, fileAlpha: number, type: GgufWriter.FloatType) => {
  const rank = a.shape[0]!
  const rows = () => (headRows === undefined ? Tensor.chunks(b) : interleave(Tensor.chunks(b), headRows, rank))
  const data = alpha === fileAlpha ? rows : () => scale(rows(), alpha / fileAlpha)
  return [
    { ...a, name: `${target}.lora_a`, type },
    { shape: b.shape, data, name: `${target}.lora_b`, type }
  ]
}

/** The architecture of a base that adapters can be written for. Throws a `GgufError` for another. */
const architectureOf = (base: GgufReader.GgufFile): string => {
  const architecture = architectures.find((name) => name === GgufReader.architecture(base))
  if (architecture === undefined) {
    const detail = `The base is "${GgufReader.architecture(base)}"; adapters are written for ${architectures.join(", ")}.`
    throw Errors.make({ _tag: "Unsupported", detail }, base.path)
  }
  const parts = GgufReader.number(base, "split.count") ?? 1
  if (parts > 1) {
    const detail = `The base is one of ${parts} parts: join them with llama-gguf-split, or give the joined file.`
    throw Errors.make({ _tag: "Unsupported", detail }, base.path)
  }
  return architecture
}

/** Reads the header of a base model. Fails if adapters cannot be written for it. Call it before training. */
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

/** Writes an adapter as a GGUF file for `base`. Fails without writing anything if it does not fit. */
export const write = (
  adapter: LoraAdapter,
  file: string,
  options: WriteOptions
): Effect.Effect<GgufWriter.Written, GgufError> =>
  attempt(file, () => contentsOf(adapter, options)).pipe(Effect.flatMap((contents) => GgufWriter.write(file, contents)))

/**
 * Converts an adapter from PEFT's format for use with a GGUF model.
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
  /** The folder of the adapter in PEFT's format. */
  readonly folder: string
  /** The GGUF file of the model that the adapter was trained on, quantized or not. */
  readonly base: string
  /** The path of the adapter file. */
  readonly path: string
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata. */
  readonly metadata?: Metadata.Metadata | undefined
}): Effect.Effect<GgufWriter.Written, GgufError> =>
  Effect.gen(function* () {
    const { metadata, type = "F32" } = options
    const adapter = yield* read(options.folder)
    return yield* write(adapter, options.path, { base: yield* base(options.base), type, metadata })
  })

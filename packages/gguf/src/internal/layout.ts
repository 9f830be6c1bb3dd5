/** The tensors of a model: their names in Hugging Face and GGUF layout, and their shapes. */
import type { Config } from "../Model.ts"

/** A tensor that a model must have. */
export interface Slot {
  /** Name in the Hugging Face layout. */
  readonly source: string
  /** Name in GGUF. */
  readonly target: string
  readonly shape: ReadonlyArray<number>
  /** Number of rows per head, if llama.cpp requires a different row order. */
  readonly headRows?: number | undefined
}

/** Returns the sizes derived from a configuration. */
export const sizes = (config: Config) => {
  const headSize = config.headSize ?? config.hiddenSize / config.heads
  return {
    headSize,
    querySize: headSize * config.heads,
    keyValueSize: headSize * (config.keyValueHeads ?? config.heads)
  }
}

/** Linear layers of a block: Hugging Face name to GGUF name. */
const linearTargets = {
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down"
}

type Linear = keyof typeof linearTargets

/** Output and input size of each linear layer. */
const linearShapes = (config: Config): { readonly [name in Linear]: readonly [number, number] } => {
  const { feedForwardSize, hiddenSize } = config
  const { keyValueSize, querySize } = sizes(config)
  return {
    "self_attn.q_proj": [querySize, hiddenSize],
    "self_attn.k_proj": [keyValueSize, hiddenSize],
    "self_attn.v_proj": [keyValueSize, hiddenSize],
    "self_attn.o_proj": [hiddenSize, querySize],
    "mlp.gate_proj": [feedForwardSize, hiddenSize],
    "mlp.up_proj": [feedForwardSize, hiddenSize],
    "mlp.down_proj": [hiddenSize, feedForwardSize]
  }
}

/**
 * Whether the rows of a tensor have a different order in GGUF. For llama, llama.cpp's rotary embedding pairs adjacent
 * elements while PyTorch pairs the two halves, so queries and keys are reordered.
 */
export const isReordered = (architecture: string, target: string): boolean =>
  architecture === "llama" && /\.attn_[qk]\.weight$/.test(target)

/** Returns the GGUF tensor name of a linear layer, or of the output layer, given its Hugging Face module name. */
export const targetOf = (module: string): string | undefined => {
  if (module === "lm_head") return "output.weight"
  const [, block, name = ""] = /^model\.layers\.(\d+)\.(.+)$/.exec(module) ?? []
  const target = Object.hasOwn(linearTargets, name) ? linearTargets[name as keyof typeof linearTargets] : undefined
  return target === undefined ? undefined : `blk.${block}.${target}.weight`
}

/** Layers that have a bias in qwen2. */
const biased: ReadonlyArray<string> = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]

const blockSlots = (config: Config, block: number): ReadonlyArray<Slot> => {
  const source = (name: string) => `model.layers.${block}.${name}`
  const target = (name: string) => `blk.${block}.${name}`
  const norm = (from: string, to: string) => ({
    source: source(`${from}.weight`),
    target: target(`${to}.weight`),
    shape: [config.hiddenSize]
  })
  const weights = Object.entries(linearShapes(config)).flatMap(([name, shape]): Array<Slot> => {
    const to = target(`${linearTargets[name as Linear]}.weight`)
    const rotated = isReordered(config.architecture, to) ? { headRows: sizes(config).headSize } : {}
    const weight = { source: source(`${name}.weight`), target: to, shape, ...rotated }
    if (config.architecture !== "qwen2" || !biased.includes(name)) return [weight]
    const bias = { source: source(`${name}.bias`), target: to.replace(/weight$/, "bias"), shape: [shape[0]] }
    return [weight, bias]
  })
  return [norm("input_layernorm", "attn_norm"), ...weights, norm("post_attention_layernorm", "ffn_norm")]
}

/** Returns all tensors of a model, in the order in which they are written. */
export const slots = (config: Config): ReadonlyArray<Slot> => {
  const { hiddenSize, layers, tiedEmbeddings = false, vocabularySize } = config
  const table = [vocabularySize, hiddenSize]
  return [
    { source: "model.embed_tokens.weight", target: "token_embd.weight", shape: table },
    ...Array.from({ length: layers }, (_, block) => blockSlots(config, block)).flat(),
    { source: "model.norm.weight", target: "output_norm.weight", shape: [hiddenSize] },
    ...(tiedEmbeddings ? [] : [{ source: "lm_head.weight", target: "output.weight", shape: table }])
  ]
}

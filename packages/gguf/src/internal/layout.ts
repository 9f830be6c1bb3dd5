/** Which tensors a model has: their names in both worlds and their shapes. */
import type { Config } from "../Model.ts"

/** A tensor that a model must have. */
export interface Slot {
  /** Its name in Hugging Face's layout. */
  readonly source: string
  /** Its name in GGUF. */
  readonly target: string
  readonly shape: ReadonlyArray<number>
  /** Set where llama.cpp wants the rows of each head in another order: how many rows a head has. */
  readonly headRows?: number
}

/** Sizes that follow from a configuration. */
export const sizes = (config: Config) => {
  const headSize = config.headSize ?? config.hiddenSize / config.heads
  return {
    headSize,
    querySize: headSize * config.heads,
    keyValueSize: headSize * (config.keyValueHeads ?? config.heads)
  }
}

/**
 * The linear layers of a block, by their names in Hugging Face's layout. Llama's rotary embedding turns neighbours in
 * llama.cpp but halves in PyTorch, so its queries and keys are stored in another order.
 */
export const linears = (config: Config) => {
  const { hiddenSize, feedForwardSize } = config
  const { headSize, keyValueSize, querySize } = sizes(config)
  const rotated = config.architecture === "llama" ? { headRows: headSize } : {}
  return {
    "self_attn.q_proj": { target: "attn_q", shape: [querySize, hiddenSize], ...rotated },
    "self_attn.k_proj": { target: "attn_k", shape: [keyValueSize, hiddenSize], ...rotated },
    "self_attn.v_proj": { target: "attn_v", shape: [keyValueSize, hiddenSize] },
    "self_attn.o_proj": { target: "attn_output", shape: [hiddenSize, querySize] },
    "mlp.gate_proj": { target: "ffn_gate", shape: [feedForwardSize, hiddenSize] },
    "mlp.up_proj": { target: "ffn_up", shape: [feedForwardSize, hiddenSize] },
    "mlp.down_proj": { target: "ffn_down", shape: [hiddenSize, feedForwardSize] }
  } as const
}

const biased: ReadonlyArray<string> = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]

const blockSlots = (config: Config, block: number): ReadonlyArray<Slot> => {
  const source = (name: string) => `model.layers.${block}.${name}`
  const target = (name: string) => `blk.${block}.${name}`
  const norm = (from: string, to: string) => ({
    source: source(`${from}.weight`),
    target: target(`${to}.weight`),
    shape: [config.hiddenSize]
  })
  const weights = Object.entries(linears(config)).flatMap(([name, linear]): Array<Slot> => {
    const weight = { ...linear, source: source(`${name}.weight`), target: target(`${linear.target}.weight`) }
    if (config.architecture !== "qwen2" || !biased.includes(name)) return [weight]
    const bias = { source: source(`${name}.bias`), target: target(`${linear.target}.bias`), shape: [linear.shape[0]] }
    return [weight, bias]
  })
  return [norm("input_layernorm", "attn_norm"), ...weights, norm("post_attention_layernorm", "ffn_norm")]
}

/** Every tensor of a model, in the order in which it is written. */
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

/** PEFT's adapter format: the names of its matrices, and its config. */
import fs from "node:fs"
import type { WholeFile } from "@divisi/files"

const prefix = "base_model.model."

/**
 * Returns PEFT's name for a matrix. Servers omit the prefix and suffix for experts, and the hosted service uses another
 * name for the output layer.
 */
export const nameOf = (name: string): string => {
  const whole = /\.lora_[AB]$/.test(name) ? `${name}.weight` : name
  const prefixed = whole.startsWith(prefix) ? whole : `${prefix}${whole}`
  return prefixed.replace(`${prefix}model.unembed_tokens.`, `${prefix}lm_head.`)
}

/** Returns the names of the linear layers that the matrices modify, such as `q_proj`. */
const modulesOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const modules = names.flatMap((name) => /([^.]+)\.lora_[AB]\.weight$/.exec(name)?.[1] ?? [])
  return [...new Set(modules)].sort()
}

type Fields = Readonly<Record<string, unknown>>

/** Completes a config with the fields that PEFT and vLLM require and servers leave empty. */
export const configOf = (said: Fields, names: ReadonlyArray<string>, baseModel: string): Fields => ({
  ...said,
  peft_type: said.peft_type ?? "LORA",
  task_type: said.task_type ?? "CAUSAL_LM",
  target_modules: said.target_modules ?? modulesOf(names),
  // A path on the server cannot be used here.
  base_model_name_or_path: baseModel
})

const alignment = 8

/** Copies a safetensors file with renamed tensors; their stored data are unchanged. */
export const rename = async (from: string, to: WholeFile.Sink, renamed: (name: string) => string): Promise<void> => {
  const source = await fs.promises.open(from)
  try {
    const length = Buffer.alloc(8)
    await source.read(length, 0, 8, 0)
    const bytes = Buffer.alloc(Number(length.readBigUInt64LE()))
    await source.read(bytes, 0, bytes.length, 8)
    const entries = Object.entries(JSON.parse(bytes.toString("utf8")) as Fields)
    const header = Buffer.from(
      JSON.stringify(
        Object.fromEntries(entries.map(([name, entry]) => [name === "__metadata__" ? name : renamed(name), entry]))
      )
    )
    const padded = Buffer.alloc(Math.ceil(header.length / alignment) * alignment, " ")
    header.copy(padded)
    const size = Buffer.alloc(8)
    size.writeBigUInt64LE(BigInt(padded.length))
    await to.write(Buffer.concat([size, padded]))
    for await (const piece of source.createReadStream({ start: 8 + bytes.length, autoClose: false })) {
      await to.write(piece)
    }
  } finally {
    await source.close()
  }
}

/** PEFT's form of an adapter: how its matrices are called, and what its config says. */
import fs from "node:fs"
import type { WholeFile } from "@divisi/files"

const prefix = "base_model.model."

/**
 * A matrix's name as PEFT has it: servers leave the beginning and the end out for experts, and the hosted one calls the
 * output layer otherwise.
 */
export const nameOf = (name: string): string => {
  const whole = /\.lora_[AB]$/.test(name) ? `${name}.weight` : name
  const prefixed = whole.startsWith(prefix) ? whole : `${prefix}${whole}`
  return prefixed.replace(`${prefix}model.unembed_tokens.`, `${prefix}lm_head.`)
}

/** The linear layers that matrices of these names change: `q_proj`. */
const modulesOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const modules = names.flatMap((name) => /([^.]+)\.lora_[AB]\.weight$/.exec(name)?.[1] ?? [])
  return [...new Set(modules)].sort()
}

type Fields = Readonly<Record<string, unknown>>

/** A config with what PEFT and vLLM need and servers leave empty. */
export const configOf = (said: Fields, names: ReadonlyArray<string>, baseModel: string): Fields => ({
  ...said,
  peft_type: said.peft_type ?? "LORA",
  task_type: said.task_type ?? "CAUSAL_LM",
  target_modules: said.target_modules ?? modulesOf(names),
  // A path of the server's own is of no use here.
  base_model_name_or_path: baseModel
})

const alignment = 8

/** Copies a safetensors file with other names for its tensors; its numbers stay as they are stored. */
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

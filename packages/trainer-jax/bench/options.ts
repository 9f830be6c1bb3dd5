/** Shared code of the benchmarks: command-line options, a model of realistic size, and their report. */
import os from "node:os"
import type { Model } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as ChatTemplate from "@divisi/trainer-jax/ChatTemplate"

/** A text of the command line, as in `--size 192x4`. */
export const text = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : process.argv[at + 1]!
}

export const number = (name: string, otherwise: number): number => Number(text(name, String(otherwise)))

/** `128x3`: hidden size and layers. */
export const configOf = (size: string, vocabularySize: number): Model.Config => {
  const [hiddenSize, layers] = size.split("x").map(Number) as [number, number]
  return {
    architecture: "llama",
    vocabularySize,
    hiddenSize,
    layers,
    heads: hiddenSize / 32,
    feedForwardSize: hiddenSize === 192 ? 512 : 2 * hiddenSize,
    contextLength: 640,
    tiedEmbeddings: true
  }
}

/** Bytes and two control tokens: benchmarks ask for tokens, not for texts. */
export const tokenizer = Tokenizer.makeUnsafe({
  controlTokens: ChatTemplate.linesControlTokens,
  chatTemplate: ChatTemplate.lines
})

/** Tokens that look random and are always the same. */
export const tokens = (count: number, seed: number, vocabularySize: number): Array<number> =>
  Array.from({ length: count }, (_, place) => (place * 7919 + seed * 104_729) % vocabularySize)

export const load = (): ReadonlyArray<number> => os.loadavg().map((one) => Number(one.toFixed(2)))

export const print = (results: unknown): void => void process.stdout.write(`${JSON.stringify(results)}\n`)

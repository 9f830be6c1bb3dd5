/**
 * A transformer that replaces the toy recipe's table: small enough for a laptop, and exported as a file that llama.cpp
 * can run.
 */
import { Tokenizer } from "@divisi/gguf/browser"
import * as ChatTemplate from "@divisi/trainer-jax/ChatTemplate"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"

/** Creates an engine with random weights. Its vocabulary encodes the given texts in few tokens. */
export const engine = (texts: ReadonlyArray<string>, seed: number) => {
  const { linesControlTokens: controlTokens, lines: chatTemplate } = ChatTemplate
  const tokenizer = Tokenizer.train(texts, { merges: 300, controlTokens, chatTemplate })
  const config = {
    architecture: "llama",
    vocabularySize: tokenizer.tokens.length,
    hiddenSize: 64,
    layers: 2,
    heads: 4,
    feedForwardSize: 128,
    contextLength: 512,
    tiedEmbeddings: true
  } as const
  return JaxEngine.make({ config, tokenizer, seed, name: "divisi-toy", threads: 1, memoryBytes: 1e8 })
}

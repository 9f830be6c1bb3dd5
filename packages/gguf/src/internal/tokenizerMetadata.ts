/** Encodes a tokenizer as the metadata that llama.cpp expects. */
import * as Metadata from "../Metadata.ts"
import type { Tokenizer } from "../Tokenizer.ts"

/** llama.cpp's ids for token types. */
export const kinds = { normal: 1, control: 3, unused: 5 }

/** Returns the `tokenizer` keys, with unused tokens added up to `size`. */
export const tokenizerMetadata = (tokenizer: Tokenizer, size: number): Metadata.Metadata => {
  const { chatTemplate, endOfText, merges, tokens } = tokenizer
  const unused = Array.from({ length: size - tokens.length }, (_, index) => `<|unused_${index}|>`)
  const kindOf = (id: number) => (id < endOfText ? kinds.normal : id < tokens.length ? kinds.control : kinds.unused)
  return {
    "tokenizer.ggml.model": Metadata.string("gpt2"),
    "tokenizer.ggml.pre": Metadata.string("gpt-2"),
    "tokenizer.ggml.tokens": Metadata.strings([...tokens, ...unused]),
    "tokenizer.ggml.token_type": Metadata.int32s(Array.from({ length: size }, (_, id) => kindOf(id))),
    "tokenizer.ggml.merges": Metadata.strings(merges),
    "tokenizer.ggml.bos_token_id": Metadata.uint32(endOfText),
    "tokenizer.ggml.eos_token_id": Metadata.uint32(endOfText),
    "tokenizer.ggml.padding_token_id": Metadata.uint32(endOfText),
    "tokenizer.ggml.add_bos_token": Metadata.boolean(false),
    "tokenizer.ggml.add_eos_token": Metadata.boolean(false),
    ...(chatTemplate === undefined ? {} : { "tokenizer.chat_template": Metadata.string(chatTemplate) })
  }
}

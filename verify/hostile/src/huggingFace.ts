/** Parsers of the files that accompany models on Hugging Face: tokenizers, chat templates, and text to tokenize. */
import fs from "node:fs"
import path from "node:path"
import { Tokenizer } from "@divisi/gguf"
import * as HuggingFaceTokenizer from "@divisi/trainer-tinker/HuggingFaceTokenizer"
import * as Effect from "effect/Effect"

const endOfText = "<|end|>"

const template = "{% for message in messages %}{{ message.content }}{% endfor %}"

/** A byte-level tokenizer as such files spell it. */
const tokenizerOf = ({ merges, tokens }: Pick<Tokenizer.Tokenizer, "merges" | "tokens">) => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [{ id: tokens.length, content: endOfText, special: true }],
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: "ByteLevel" },
  model: { type: "BPE", vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges }
})

const plain = Tokenizer.train(["the answer is the answer aaaaaaaa ((((((((  \n\n\n\n"], { merges: 40 })

/** Loads a tokenizer from these file contents. */
const load = (
  folder: string,
  { config = {}, tokenizer = JSON.stringify(tokenizerOf(plain)) }: { config?: object; tokenizer?: string }
) => {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, "tokenizer.json"), tokenizer)
  const whole = { eos_token: endOfText, chat_template: template, ...config }
  fs.writeFileSync(path.join(folder, "tokenizer_config.json"), JSON.stringify(whole))
  return Effect.runPromise(Effect.result(HuggingFaceTokenizer.load({ folder })))
}

/** All of them; files are made in `folder`. */
export const all = async (folder: string) => {
  const within = path.join(folder, "hugging-face")
  const made = await load(within, {})
  if (made._tag === "Failure") throw made.failure
  const tokenizer = made.success
  const vocabularyOf = (text: string) => [...new Set([...plain.tokens, ...text.split(" ")])]
  return [
    {
      name: "tokens of Hugging Face",
      read: (text: string) => tokenizer.decode(tokenizer.render([{ role: "user", content: text }]))
    },
    { name: "tokenizer of Hugging Face", read: (text: string) => load(within, { tokenizer: text }) },
    {
      name: "vocabulary of Hugging Face",
      read: (text: string) =>
        load(within, { tokenizer: JSON.stringify(tokenizerOf({ merges: plain.merges, tokens: vocabularyOf(text) })) })
    },
    {
      name: "chat template of Hugging Face",
      bound: 65_536,
      read: (text: string) => load(within, { config: { chat_template: text } })
    }
  ]
}

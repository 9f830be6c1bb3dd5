/**
 * Converts messages to prompt tokens in the same way as llama.cpp.
 *
 * A GGUF file contains its chat template in the Jinja language, which this package does not execute. It recognizes the
 * templates in this module and renders them to the same tokens as llama.cpp.
 */
import { type Message, type PlainMessage, plain } from "@divisi/core/Message"
import { Tokenizer } from "@divisi/gguf/browser"
import type { Tokenizer as EngineTokenizer } from "@divisi/trainer/Engine"

/** The token that starts the model's turn in {@link lines}. */
const answerToken = "<|answer|>"

/** The control tokens used by {@link lines}: the end of a text, and the start of the model's turn. */
export const linesControlTokens: ReadonlyArray<string> = ["<|endoftext|>", answerToken]

const endToken = "<|endoftext|>"

/**
 * The shortest template: each message's content followed by a line break, and one token at the start of the answer.
 * Earlier answers are placed between that token and the end-of-text token.
 */
export const lines =
  `{% for message in messages %}{% if message['role'] == 'assistant' %}{{ '${answerToken}' + message['content'] + ` +
  `'${endToken}' }}{% else %}{{ message['content'] + '\n' }}{% endif %}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '${answerToken}' }}{% endif %}`

/** A part of a prompt: plain text, or a control token by name. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "control"; readonly name: string }

/** Renders messages up to the start of the model's turn. */
export type Render = (messages: ReadonlyArray<Message>) => ReadonlyArray<Piece>

const text = (value: string): Piece => ({ type: "text", text: value })

const control = (name: string): Piece => ({ type: "control", name })

const line = ({ content, role }: PlainMessage): ReadonlyArray<Piece> =>
  role === "assistant" ? [control(answerToken), text(content), control(endToken)] : [text(`${content}\n`)]

const turn = ({ content, role }: PlainMessage): ReadonlyArray<Piece> => [
  control("<|im_start|>"),
  text(`${role}\n${content}`),
  control("<|im_end|>"),
  text("\n")
]

const known: Readonly<Record<string, Render>> = {
  [lines]: (messages) => [...messages.map(plain).flatMap(line), control(answerToken)],
  // llama.cpp's bindings start ChatML with the beginning-of-text token, which is the same as the end-of-text token
  // here.
  [Tokenizer.chatMl]: (messages) => [
    control(endToken),
    ...messages.map(plain).flatMap(turn),
    control("<|im_start|>"),
    text("assistant\n")
  ]
}

/**
 * Returns the renderer for a template; `undefined` if the template is unknown.
 *
 * @internal
 */
export const renderOf = (template: string): Render | undefined => known[template]

/** Converts pieces to tokens. Consecutive texts are encoded as one text. */
const encode = (tokenizer: Tokenizer.Tokenizer, pieces: ReadonlyArray<Piece>): ReadonlyArray<number> => {
  const tokens: Array<number> = []
  let pending = ""
  const flush = () => {
    tokens.push(...Tokenizer.encode(tokenizer, pending))
    pending = ""
  }
  for (const piece of pieces) {
    if (piece.type === "text") pending += piece.text
    else {
      flush()
      tokens.push(...Tokenizer.encode(tokenizer, piece.name, { controlTokens: true }))
    }
  }
  flush()
  return tokens
}

/**
 * Adapts a tokenizer to the engines' interface. The model's texts end with the tokenizer's end-of-text token.
 *
 * @internal
 */
export const tokenizerOf = (tokenizer: Tokenizer.Tokenizer, render: Render): EngineTokenizer => ({
  render: (messages) => encode(tokenizer, render(messages)),
  encode: (text) => Tokenizer.encode(tokenizer, text),
  decode: (tokens) => Tokenizer.decode(tokenizer, tokens),
  endToken: tokenizer.endOfText
})

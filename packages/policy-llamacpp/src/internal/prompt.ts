/** Turns messages into the tokens of a prompt. */
import * as Message from "@divisi/core/Message"
import type { ChatHistoryItem, ChatWrapper, LlamaModel, Token } from "node-llama-cpp"

/**
 * How messages become a prompt: by the model's own chat template (`"model"`), as their texts alone (`"plain"`), or by a
 * function, in whose text the names of control tokens (`<|im_start|>`) stand for these tokens.
 */
export type Template = "model" | "plain" | ((messages: ReadonlyArray<Message.Message>) => string)

/** What makes prompts for a model. */
export interface Prompter {
  readonly tokens: (messages: ReadonlyArray<Message.Message>, isThinking: boolean) => ReadonlyArray<Token>
  /** Tokens, besides the model's own end tokens, with which its turn ends. */
  readonly stopTokens: ReadonlySet<Token>
}

const items = (messages: ReadonlyArray<Message.Message>): Array<ChatHistoryItem> => [
  ...messages.map(Message.plain).map(({ content, role }): ChatHistoryItem => {
    if (role === "assistant") return { type: "model", response: [content] }
    return { type: role, text: content }
  }),
  { type: "model", response: [] }
]

const plain = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => Message.text(message)).join("\n\n")

const withStart = ({ tokens }: LlamaModel, prompt: ReadonlyArray<Token>): ReadonlyArray<Token> =>
  tokens.shouldPrependBosToken && tokens.bos !== null && prompt[0] !== tokens.bos ? [tokens.bos, ...prompt] : prompt

const ofTexts = (
  model: LlamaModel,
  text: (messages: ReadonlyArray<Message.Message>) => string,
  hasControls: boolean
) => ({
  tokens: (messages: ReadonlyArray<Message.Message>) => {
    const prompt = withStart(model, model.tokenize(text(messages), hasControls))
    const { bos, eos } = model.tokens
    // An empty prompt has no token after which another could be sampled.
    return prompt.length > 0 ? prompt : [bos ?? eos!]
  },
  stopTokens: new Set<Token>()
})

/** Turns thinking off for model families that can do without. */
const quiet = async (wrapper: ChatWrapper): Promise<ChatWrapper> => {
  const { QwenChatWrapper } = await import("node-llama-cpp")
  return wrapper instanceof QwenChatWrapper
    ? new QwenChatWrapper({ thoughts: "discourage", variation: wrapper.variation })
    : wrapper
}

/** Makes prompts by a template; a model without a template of its own is given texts. */
export const make = async (model: LlamaModel, template: Template): Promise<Prompter> => {
  if (typeof template === "function") return ofTexts(model, template, true)
  const own = model.fileInfo.metadata.tokenizer?.chat_template
  if (template === "plain" || own === undefined) return ofTexts(model, plain, false)
  const { resolveChatWrapper } = await import("node-llama-cpp")
  const wrapper = resolveChatWrapper(model, { warningLogs: false })
  const silent = await quiet(wrapper)
  const { stopGenerationTriggers } = wrapper.generateContextState({ chatHistory: items([]) })
  return {
    tokens: (messages, isThinking) => {
      const { contextText } = (isThinking ? wrapper : silent).generateContextState({ chatHistory: items(messages) })
      return contextText.tokenize(model.tokenizer)
    },
    stopTokens: new Set(
      stopGenerationTriggers
        .map((trigger) => trigger.tokenize(model.tokenizer))
        .flatMap((tokens) => (tokens.length === 1 && model.isSpecialToken(tokens[0]) ? tokens : []))
    )
  }
}

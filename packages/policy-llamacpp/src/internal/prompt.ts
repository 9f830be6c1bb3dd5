/** Converts messages to the tokens of a prompt. */
import type { PlainMessage } from "@divisi/core/Message"
import type { WorkerRequest } from "@divisi/core/Worker"
import type { ChatHistoryItem, ChatWrapper, LlamaModel, Token } from "node-llama-cpp"
import * as ToolText from "./toolText.ts"

/**
 * How messages are converted to a prompt: with the model's chat template (`"model"`), as plain text (`"plain"`), or by
 * a function. Names of control tokens in the function's result (`<|im_start|>`) are encoded as these tokens.
 */
export type Template = "model" | "plain" | ((messages: ReadonlyArray<PlainMessage>) => string)

/** Functions that render prompts for a model. */
export interface Prompter {
  readonly tokens: (request: WorkerRequest, isThinking: boolean) => ReadonlyArray<Token>
  /** Tokens that end a turn, in addition to the model's end tokens. */
  readonly stopTokens: ReadonlySet<Token>
}

const items = (request: WorkerRequest): Array<ChatHistoryItem> => [
  ...ToolText.plainConversation(request).map(({ content, role }): ChatHistoryItem => {
    if (role === "assistant") return { type: "model", response: [content] }
    return { type: role, text: content }
  }),
  { type: "model", response: [] }
]

const plain = (messages: ReadonlyArray<PlainMessage>) => messages.map(({ content }) => content).join("\n\n")

const withStart = ({ tokens }: LlamaModel, prompt: ReadonlyArray<Token>): ReadonlyArray<Token> =>
  tokens.shouldPrependBosToken && tokens.bos !== null && prompt[0] !== tokens.bos ? [tokens.bos, ...prompt] : prompt

const ofTexts = (model: LlamaModel, text: (messages: ReadonlyArray<PlainMessage>) => string, hasControls: boolean) => ({
  tokens: (request: WorkerRequest) => {
    const prompt = withStart(model, model.tokenize(text(ToolText.plainConversation(request)), hasControls))
    const { bos, eos } = model.tokens
    // The first prediction requires at least one prompt token.
    return prompt.length > 0 ? prompt : [bos ?? eos!]
  },
  stopTokens: new Set<Token>()
})

/** Disables thinking for model families that support this. */
const quiet = async (wrapper: ChatWrapper): Promise<ChatWrapper> => {
  const { QwenChatWrapper } = await import("node-llama-cpp")
  return wrapper instanceof QwenChatWrapper
    ? new QwenChatWrapper({ thoughts: "discourage", variation: wrapper.variation })
    : wrapper
}

/** Creates the prompt renderers for a template. A model without a chat template receives plain text. */
export const make = async (model: LlamaModel, template: Template): Promise<Prompter> => {
  if (typeof template === "function") return ofTexts(model, template, true)
  const own = model.fileInfo.metadata.tokenizer?.chat_template
  if (template === "plain" || own === undefined) return ofTexts(model, plain, false)
  const { resolveChatWrapper } = await import("node-llama-cpp")
  const wrapper = resolveChatWrapper(model, { warningLogs: false })
  const silent = await quiet(wrapper)
  const { stopGenerationTriggers } = wrapper.generateContextState({ chatHistory: items({ messages: [] }) })
  return {
    tokens: (request, isThinking) => {
      const { contextText } = (isThinking ? wrapper : silent).generateContextState({ chatHistory: items(request) })
      return contextText.tokenize(model.tokenizer)
    },
    stopTokens: new Set(
      stopGenerationTriggers
        .map((trigger) => trigger.tokenize(model.tokenizer))
        .flatMap((tokens) => (tokens.length === 1 && model.isSpecialToken(tokens[0]) ? tokens : []))
    )
  }
}

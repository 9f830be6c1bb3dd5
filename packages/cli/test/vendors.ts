/**
 * Three vendors on this machine, each speaking its own wire format, one of which refuses half of its calls. OpenAI's
 * small model plans; the pool is a model of each vendor.
 */
import {
  AnthropicMessages,
  type Dialect,
  GoogleGenerateContent,
  OpenAiResponses,
  Script,
  WireServer
} from "@divisi/testkit/providers"

export const question =
  "A train leaves at 09:40 and arrives at 13:05 the same day. How many minutes does it travel, and what is its average speed over 287 km?"

export const answer = "It travels 205 minutes, at an average speed of 84 km/h."

const plan = [
  "The duration comes first, then the speed; two workers take each on, and one puts it together.",
  "",
  "model_id = [1, 2, 1, 0]",
  'subtasks = ["How many minutes pass from 09:40 until 13:05?", "Count the minutes from 09:40 to 13:05 in another way.", "What is the average speed over 287 km from 09:40 until 13:05, in km/h?", "Compare the answers above and answer the question in one sentence."]',
  'access_list = [[], [], [], "all"]'
].join("\n")

/** Keys that must be found nowhere but in the requests. */
export const keys = {
  OPENAI_API_KEY: "sk-openai-secret-4711",
  ANTHROPIC_API_KEY: "sk-ant-secret-4712",
  GEMINI_API_KEY: "AIza-secret-4713"
} as const

export const pool = "openai:gpt-5,anthropic:claude-sonnet-4-6,google:gemini-2.5-pro"

export const policy = "openai:gpt-5-mini"

const lastOf = (messages: ReadonlyArray<Dialect.SentMessage>) => messages.at(-1)?.content ?? ""

/** Answers by what is asked, in pieces, with the vendor's word on its limits where it has one. */
const says = (text: string, outputTokens: number, headers: Readonly<Record<string, string>> = {}) =>
  Script.answer(text.split(/(?<= )/), { usage: { inputTokens: 180, outputTokens }, headers })

const openAiLimits = (remaining: number) => ({
  "x-ratelimit-limit-requests": "500",
  "x-ratelimit-remaining-requests": String(remaining),
  "x-ratelimit-reset-requests": "120ms"
})

export interface Vendors extends AsyncDisposable {
  readonly openai: WireServer.WireServer
  readonly anthropic: WireServer.WireServer
  readonly google: WireServer.WireServer
  /** Keys and base URLs, as a person would have them set. */
  readonly environment: Readonly<Record<string, string>>
}

const scripted = (dialect: Dialect.Dialect, script: (asked: string, model: string, index: number) => Script.Script) =>
  WireServer.start(dialect, (request, index) => {
    const { messages, model = "" } = dialect.read(request)
    return script(lastOf(messages), model, index)
  })

/** Starts them. */
export const start = async (): Promise<Vendors> => {
  const openai = await scripted(OpenAiResponses.dialect, (_, model, index) =>
    model === "gpt-5-mini" ? says(plan, 160, openAiLimits(499)) : says(answer, 18, openAiLimits(499 - index))
  )
  const anthropic = await scripted(AnthropicMessages.dialect, (asked, _, index) => {
    if (index % 2 === 0) return Script.refusal("overloaded")
    return asked.includes("speed") && !asked.includes("How many minutes pass")
      ? says("84 km/h: 287 km in 205 minutes, which are 3.4167 hours.", 24)
      : says("205 minutes: three hours and 25 minutes.", 14)
  })
  const google = await scripted(GoogleGenerateContent.dialect, () =>
    says("20 minutes until 10:00, 180 until 13:00 and 5 more: 205 minutes.", 22)
  )
  const close = async () => {
    await Promise.all([openai.close(), anthropic.close(), google.close()])
  }
  return {
    openai,
    anthropic,
    google,
    environment: {
      ...keys,
      OPENAI_BASE_URL: `${openai.url}/v1`,
      ANTHROPIC_BASE_URL: anthropic.url,
      GEMINI_BASE_URL: google.url
    },
    [Symbol.asyncDispose]: close
  }
}

/**
 * The request fields of each vendor API, classified as preferences (how to answer) or demands (what the answer must
 * satisfy). An unsupported preference is mapped or omitted with a notice; an unsupported demand fails the request. Used
 * by providers, whose servers may reject fields, and by servers, whose clients may send one vendor's fields through
 * another vendor's protocol.
 *
 * Sources: https://developers.openai.com/api/reference/resources/chat,
 * https://developers.openai.com/api/reference/resources/responses, https://platform.claude.com/docs/en/api/messages,
 * https://ai.google.dev/api/generate-content, https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html and
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, read in November 2026.
 */

/** A vendor API. Chat Completions and Responses are combined, because most of their fields have the same names. */
export type Api = "openai" | "messages" | "generateContent"

/** A request field. */
export interface Field {
  /** Its location in the body: a name, or a path such as `generationConfig.seed`. */
  readonly name: string
  readonly kind: "preference" | "demand"
  /** The APIs that support the field. */
  readonly apis: ReadonlyArray<Api>
  /** Values that are equivalent to the default, such as 1 for `top_p`. */
  readonly neutral?: ReadonlyArray<unknown> | undefined
  /** The names that error messages use for the field. Default: its own name. */
  readonly names?: ReadonlyArray<string> | undefined
  /** Whether its names are common words that error messages may use with another meaning. */
  readonly isWord?: boolean | undefined
  /** Whether its names refer to the enclosing object. They are matched only if that object has no other member. */
  readonly isContainer?: boolean | undefined
}

const openai = ["openai"] as const
const messages = ["messages"] as const
const both = ["openai", "messages"] as const

const thinks = ["support thinking", "support reasoning", "think value", "thinking is not enabled"]
const streams = ["to stream", "streaming", "'stream'", '"stream"', "parameter: stream"]

/**
 * Cache hints on prompt blocks. They may occur at several positions in a Messages body.
 *
 * @internal
 */
export const cacheHints = "cache_control" as const

/** The fields of Chat Completions, Responses and Messages. */
export const fields = [
  // An error names this field together with its block: "messages.0.content.0.cache_control".
  { name: cacheHints, kind: "preference", apis: messages },
  // Sampling
  { name: "temperature", kind: "preference", apis: both },
  { name: "top_p", kind: "preference", apis: both, neutral: [1] },
  { name: "top_k", kind: "preference", apis: both, neutral: [0, -1] },
  { name: "min_p", kind: "preference", apis: openai, neutral: [0] },
  { name: "typical_p", kind: "preference", apis: openai, neutral: [1] },
  { name: "frequency_penalty", kind: "preference", apis: openai, neutral: [0] },
  { name: "presence_penalty", kind: "preference", apis: openai, neutral: [0] },
  { name: "repetition_penalty", kind: "preference", apis: openai, neutral: [1] },
  { name: "logit_bias", kind: "preference", apis: openai },
  { name: "seed", kind: "preference", apis: openai, isWord: true },
  // Reasoning and verbosity
  { name: "reasoning_effort", kind: "preference", apis: openai },
  { name: "reasoning", kind: "preference", apis: openai, isWord: true },
  { name: "thinking", kind: "preference", apis: messages, names: ["budget_tokens"] },
  { name: "thinking", kind: "preference", apis: both, isWord: true },
  { name: "thinking_budget", kind: "preference", apis: openai },
  { name: "enable_thinking", kind: "preference", apis: openai },
  { name: "chat_template_kwargs", kind: "preference", apis: openai },
  { name: "output_config.effort", kind: "preference", apis: messages },
  { name: "output_config.effort", kind: "preference", apis: messages, names: ["output_config"], isContainer: true },
  { name: "output_config.effort", kind: "preference", apis: messages, names: ["effort"], isWord: true },
  { name: "verbosity", kind: "preference", apis: openai, neutral: ["medium"] },
  // Ollama does not name the field: "tiny" does not support thinking.
  { name: "reasoning_effort", kind: "preference", apis: openai, names: thinks },
  { name: "reasoning", kind: "preference", apis: openai, names: thinks },
  { name: "enable_thinking", kind: "preference", apis: openai, names: thinks },
  { name: "thinking", kind: "preference", apis: openai, names: thinks },
  // Serving
  { name: "service_tier", kind: "preference", apis: both, neutral: ["auto", "default", "standard_only"] },
  { name: "parallel_tool_calls", kind: "preference", apis: openai },
  { name: "max_tool_calls", kind: "preference", apis: openai },
  { name: "prediction", kind: "preference", apis: openai },
  { name: "truncation", kind: "preference", apis: openai, neutral: ["disabled", "auto"], isWord: true },
  { name: "context_management", kind: "preference", apis: both },
  { name: "web_search_options", kind: "preference", apis: openai },
  { name: "mcp_servers", kind: "preference", apis: messages },
  { name: "container", kind: "preference", apis: messages, isWord: true },
  // Without `stream`, the answer arrives complete. OpenAI streams some models only to verified organizations.
  { name: "stream", kind: "preference", apis: openai, names: streams },
  { name: "stream_options", kind: "preference", apis: openai },
  { name: "safety_identifier", kind: "preference", apis: openai },
  { name: "prompt_cache_key", kind: "preference", apis: openai },
  { name: "prompt_cache_retention", kind: "preference", apis: openai },
  { name: "store", kind: "preference", apis: openai, isWord: true },
  { name: "metadata", kind: "preference", apis: both, isWord: true },
  { name: "user", kind: "preference", apis: openai, isWord: true },
  { name: "include", kind: "preference", apis: openai, isWord: true },
  { name: "options", kind: "preference", apis: openai, isWord: true },
  { name: "usage", kind: "preference", apis: openai, isWord: true },
  // Output limits
  { name: "max_tokens", kind: "demand", apis: both },
  { name: "max_completion_tokens", kind: "demand", apis: openai },
  { name: "max_output_tokens", kind: "demand", apis: openai },
  { name: "stop", kind: "demand", apis: openai, isWord: true },
  { name: "stop_sequences", kind: "demand", apis: messages },
  // Tools and output formats
  { name: "tools", kind: "demand", apis: both, isWord: true },
  { name: "tool_choice", kind: "demand", apis: both },
  { name: "response_format", kind: "demand", apis: openai },
  { name: "text.format", kind: "demand", apis: openai },
  { name: "output_config.format", kind: "demand", apis: messages },
  { name: "output_format", kind: "demand", apis: messages },
  { name: "structured_outputs", kind: "demand", apis: openai },
  { name: "guided_json", kind: "demand", apis: openai },
  { name: "guided_regex", kind: "demand", apis: openai },
  { name: "guided_choice", kind: "demand", apis: openai },
  { name: "guided_grammar", kind: "demand", apis: openai },
  { name: "json_schema", kind: "demand", apis: openai },
  { name: "grammar", kind: "demand", apis: openai, isWord: true },
  { name: "regex", kind: "demand", apis: openai, isWord: true },
  { name: "ebnf", kind: "demand", apis: openai },
  // Multiple outputs
  { name: "n", kind: "demand", apis: openai, neutral: [1, "1"], isWord: true },
  { name: "best_of", kind: "demand", apis: openai, neutral: [1] },
  { name: "logprobs", kind: "demand", apis: openai, neutral: [false, 0] },
  { name: "top_logprobs", kind: "demand", apis: openai, neutral: [0] },
  { name: "audio", kind: "demand", apis: openai, isWord: true },
  { name: "modalities", kind: "demand", apis: openai },
  { name: "prompt", kind: "demand", apis: openai, isWord: true },
  // The conversation
  { name: "messages", kind: "demand", apis: both, isWord: true },
  { name: "input", kind: "demand", apis: openai, isWord: true },
  { name: "instructions", kind: "demand", apis: openai, isWord: true },
  { name: "system", kind: "demand", apis: messages, isWord: true }
] as const satisfies ReadonlyArray<Field>

/** The name of a request field in Chat Completions, Responses or Messages. */
export type Name = (typeof fields)[number]["name"]

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Returns names in both cases, because Google's errors use either. */
const spelled = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => [name, snake(name)]))
]

const google = (kind: Field["kind"], path: string, more: ReadonlyArray<string> = [], isWord = false): Field => ({
  name: path,
  kind,
  apis: ["generateContent"],
  names: spelled([path.replace(/^generationConfig\./, ""), ...more]),
  isWord
})

/** The request fields of `generateContent`. */
const generationFields: ReadonlyArray<Field> = [
  google("preference", "generationConfig.thinkingConfig", ["thinkingBudget", "thinkingLevel", "includeThoughts"]),
  google("preference", "generationConfig.temperature"),
  google("preference", "generationConfig.topP"),
  google("preference", "generationConfig.topK"),
  google("preference", "generationConfig.presencePenalty"),
  google("preference", "generationConfig.frequencyPenalty"),
  google("preference", "generationConfig.mediaResolution"),
  google("preference", "generationConfig.seed", [], true),
  google("demand", "generationConfig.maxOutputTokens"),
  google("demand", "generationConfig.stopSequences"),
  google("demand", "generationConfig.responseMimeType"),
  google("demand", "generationConfig.responseJsonSchema"),
  google("demand", "generationConfig.responseLogprobs"),
  google("demand", "generationConfig.logprobs"),
  google("demand", "toolConfig", ["functionCallingConfig"]),
  google("demand", "systemInstruction"),
  google("demand", "tools", ["functionDeclarations"], true),
  google("demand", "contents", [], true)
]

/** Returns an API's fields of one kind. */
export const fieldsOf = (api: Api, kind: Field["kind"]): ReadonlyArray<Field> =>
  [...fields, ...generationFields].filter((field: Field) => field.kind === kind && field.apis.includes(api))

// -------------------------------------------------------------------------------------------------------------------
// Fields with values
// -------------------------------------------------------------------------------------------------------------------

/** A field for which some servers accept only certain values. */
export interface Valued {
  /** Its path in the body. */
  readonly path: string
  /** Matches the field's name in error messages. */
  readonly pattern: RegExp
  /** Whether its values are integers. */
  readonly isWhole?: boolean | undefined
  /** Whether the field is a demand. A demand is omitted only if it has the single value that the server accepts. */
  readonly isDemand?: boolean | undefined
}

/**
 * Returns a pattern for a field's name in error messages: `top_p`, `topP`, "top p", quoted, or at the end of a path.
 */
const inErrors = (path: string): RegExp => {
  const name = snake(path.slice(path.lastIndexOf(".") + 1)).replaceAll("_", "[_ -]?")
  // Short names have other meanings too, so they are matched only in quotes or before a statement about a field.
  return name.length < 5
    ? new RegExp(
        `['"\`]${name}['"\`]|(?:^|[\\s:(.])${name}:? (?:must|should|may|can|is|has|only)\\b|(?:^|[\\s:])${name}:`,
        "i"
      )
    : new RegExp(`(?:^|[^a-z])${name}(?![a-z])`, "i")
}

const valued = (apis: ReadonlyArray<Api>, paths: ReadonlyArray<string>, more: Partial<Valued> = {}) =>
  paths.map((path) => ({ apis, path, pattern: inErrors(path), ...more }))

const allValued = [
  ...valued(both, ["temperature", "top_p"]),
  ...valued(openai, ["min_p", "typical_p", "frequency_penalty", "presence_penalty", "repetition_penalty"]),
  ...valued(both, ["top_k"], { isWhole: true }),
  ...valued(openai, ["seed", "thinking_budget", "reasoning.max_tokens", "max_tool_calls"], { isWhole: true }),
  ...valued(openai, ["n", "best_of"], { isWhole: true, isDemand: true }),
  ...valued(openai, ["reasoning_effort", "reasoning.effort", "verbosity", "text.verbosity"]),
  // Some routers speak of levels: level "minimal" not supported, valid levels: low, medium, high.
  ...valued(openai, ["reasoning_effort", "reasoning.effort"], { pattern: /\blevel ["'`]/i }),
  ...valued(messages, ["thinking.budget_tokens"], { isWhole: true }),
  ...valued(messages, ["output_config.effort"]),
  ...valued(both, ["service_tier"]),
  ...valued(
    ["generateContent"],
    ["temperature", "topP", "presencePenalty", "frequencyPenalty", "thinkingConfig.thinkingLevel"].map(
      (name) => `generationConfig.${name}`
    )
  ),
  ...valued(
    ["generateContent"],
    ["topK", "seed", "thinkingConfig.thinkingBudget"].map((name) => `generationConfig.${name}`),
    { isWhole: true }
  )
]

/**
 * Returns the fields of an API for which some servers accept only certain values.
 *
 * @internal
 */
export const valuedOf = (api: Api): ReadonlyArray<Valued> => allValued.filter(({ apis }) => apis.includes(api))

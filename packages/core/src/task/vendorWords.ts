/**
 * Phrases in vendors' error messages, and the reason that each indicates. Each row consists of a pattern and its
 * source.
 *
 * The order of the rows matters. Rate limits and quotas come before context overflows, because both mention "too many
 * tokens". A client that mistakes a rate limit for an overflow needlessly compacts its conversation; a client that
 * mistakes an overflow for a rate limit waits forever.
 */
import type { WorkerErrorReason } from "./Worker.ts"

/** A phrase in an error message, and the reason that it indicates. */
export interface Words {
  readonly pattern: RegExp
  readonly means: WorkerErrorReason["_tag"]
  /** A vendor's documentation page, or a repository with an issue number. */
  readonly source: string
}

const rows = (means: Words["means"], entries: ReadonlyArray<readonly [RegExp, string]>): ReadonlyArray<Words> =>
  entries.map(([pattern, source]) => ({ pattern, means, source }))

const rateLimits = rows("RateLimited", [
  [/\btokens?[ -]per[ -](?:second|minute|hour|day|month)\b/i, "openclaw/openclaw#147644, anomalyco/opencode#13015"],
  [/\brequests?[ -]per[ -](?:second|minute|hour|day|month)\b/i, "https://console.groq.com/docs/rate-limits"],
  [/\b(?:TPM|RPM|TPD|RPD)\b/, "https://console.groq.com/docs/rate-limits"],
  [/too many tokens,? please (?:wait|slow|try)/i, "cline/cline#4196, anomalyco/opencode#39621"],
  [/too many tokens processed/i, "anomalyco/opencode#13015 (Cerebras)"],
  [/throttl/i, "https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html"],
  [/(?:daily|hourly|per-minute|minute) (?:token|request|rate|usage) (?:limit|quota)/i, "anomalyco/opencode#13015"],
  [/rate[ _-]?limit/i, "https://platform.openai.com/docs/guides/error-codes"],
  [/too many (?:concurrent )?requests|concurrency limit/i, "https://docs.bigmodel.cn/cn/faq/api-code"],
  [/quota exceeded for (?:metric|quota)/i, "https://ai.google.dev/gemini-api/docs/rate-limits"],
  [
    /\b(?:tokens?|requests?|quota)\b[^.]{0,12} (?:for today|daily|hourly|(?:in the (?:last|past)|this) (?:second|minute|hour|day|month))\b/i,
    "proxies; no public thread found"
  ],
  [/\b(?:daily|hourly|per-(?:second|minute|hour|day)) (?:tokens?|requests?)\b/i, "proxies; no public thread found"],
  [/exceeded rate\b|\brequests? ?\/ ?\d{1,5} ?(?:s|m|h)/i, "proxies; no public thread found"],
  [/\b(?:usage|session) limit\b[^.]{0,40}\b(?:window|resets?)\b/i, "subscriptions; no public thread found"],
  [/速率限制|限流|请求频率|并发数?(?:过高|超)/, "https://docs.bigmodel.cn/cn/faq/api-code"],
  [/resource_exhausted/i, "https://ai.google.dev/gemini-api/docs/troubleshooting"]
])

const quotas = rows("Quota", [
  [
    /insufficient[_ ](?:(?:user|account|team|api)[_ ])?(?:quota|balance|credits?|funds?)/i,
    "https://api-docs.deepseek.com/quick_start/error_codes"
  ],
  [
    /\b(?:credit|balance|credits)\b[^.]{0,20} (?:is|are) (?:insufficient|exhausted|used up)|(?:exhausted|used(?: up)?) all (?:of )?(?:your |its |the |available )?credits/i,
    "Alishahryar1/free-claude-code#1543, diegosouzapw/OmniRoute#13040"
  ],
  [
    /servicequotaexceeded|exceeded your (?:assigned|service|account) quota|\bno longer have quota/i,
    "bagofwords1/bagofwords#784 (Amazon Bedrock, Azure)"
  ],
  [
    /\b(?:account|monthly|plan|session|subscription|token|weekly)[ _]quota(?:\b|_).{0,20}(?:exceeded|exhausted|reached|used up)/i,
    "diegosouzapw/OmniRoute#1772"
  ],
  [/\bquota (?:has been |is |was )?(?:exceeded|exhausted|used up)(?! for\b)/i, "apache/rocketmq-dashboard#2178"],
  [
    /exceeded(?: your |_)current[_ ]quota|billing|payment required/i,
    "https://platform.openai.com/docs/guides/error-codes"
  ],
  [
    /arrearage|\baccount\b.{0,40}\b(?:suspended|overdue|in arrears|in good standing)/i,
    "https://help.aliyun.com/zh/model-studio/error-code"
  ],
  [
    /credit balance|(?:out of|no|any) credits?|(?:requires|need) more credits|add (?:more )?credits/i,
    "https://openrouter.ai/docs/api/reference/errors-and-debugging"
  ],
  [
    /exhausted its monthly spending|(?:monthly|spend(?:ing)?) limit|reached your (?:specified )?(?:API )?usage limits?|extra usage is required/i,
    "https://docs.x.ai/docs/key-information/debugging"
  ],
  [/欠费|余额不足|请充值/, "https://docs.bigmodel.cn/cn/faq/api-code"],
  [/key limit exceeded|limit of (?:this|your) (?:API )?key/i, "https://openrouter.ai/docs/api/reference/limits"]
])

const overflows = rows("ContextTooLong", [
  [
    /context_length_exceeded|exceed_context_size_error|context_window_exceeded|ContextWindowExceeded/i,
    "getkimchi/kimchi#794"
  ],
  [/context (?:length|window|size|limit)/i, "https://platform.openai.com/docs/guides/error-codes"],
  [
    /(?:maximum|max) (?:prompt|input|model|sequence|context)[ _-](?:length|tokens?|size)/i,
    "https://docs.x.ai/docs/key-information/debugging"
  ],
  [
    /exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:maximum )?(?:model |input |prompt )?token limit/i,
    "MoonshotAI/kimi-cli#2011"
  ],
  [
    /exceed(?:s|ed)? (?:the )?maximum (?:number of (?:input )?tokens|context|length)/i,
    "https://ai.google.dev/gemini-api/docs/troubleshooting"
  ],
  [
    /(?:prompt|input|request|message|conversation)s?(?: length| text)? (?:is|are|was)? ?too (?:long|large|big)\b/i,
    "https://platform.claude.com/docs/en/api/errors"
  ],
  [/(?:prompt|input|message) size[^.]{0,40} exceeds/i, "MoonshotAI/kimi-code#1862"],
  [/context shift is disabled/i, "ikawrakow/ik_llama.cpp#2051"],
  [/total message size \d+ exceeds limit/i, "MoonshotAI/kimi-code#1862"],
  [/range of input length should be/i, "open-octo/octo-agent#2124 (DashScope)"],
  [
    /model_max_prompt_tokens_exceeded|prompt token count[^.]{0,40} exceeds the limit/i,
    "jjleng/copilot-more#35 (GitHub Copilot)"
  ],
  [
    /`inputs`[^.]{0,60} must (?:be <=|have less than) \d+/i,
    "huggingface/huggingface_hub#2763 (text-generation-inference)"
  ],
  [
    /(?:input|prompt)(?: tokens?)? length[^.]{0,40} (?:exceeds?|is greater than) (?:the )?(?:maximum|max|session_len|limit)/i,
    "NVIDIA-NeMo/Switchyard#426 (SGLang)"
  ],
  [
    /(?:prompt|input|message|request|token|text)s?\b[^.]{0,80} exceed(?:s|ed)? (?:the )?max(?:imum)? (?:message tokens|limit of \d+ tokens|length)/i,
    "bytedance/deer-flow#583 (Volcengine)"
  ],
  [/exceed(?:s|ed)? (?:the )?maximum allowed content length/i, "Databricks; no public thread found"],
  [
    /input tokens[^.]{0,40} (?:cannot exceed|exceeds?) (?:the )?(?:total tokens limit|maximum of|limit)/i,
    "watsonx; no public thread found"
  ],
  [/request payload size exceeds the limit/i, "google-gemini/deprecated-generative-ai-android#26"],
  [/(?:prompt|input)s? tokens (?:are |is )?too long|max length of current question/i, "PaddlePaddle/ERNIE-SDK#336"],
  [/should not exceed max_(?:seq_len|num_tokens)|max_seq_len_exceeded/i, "NVIDIA/TensorRT-LLM#9277"],
  [/(?:prompt|input)[^.]{0,60}(?:longer|larger|more) than the (?:model|maximum|context)/i, "getkimchi/kimchi#794"],
  [/request body too large[^.]{0,60}\. max size: \d{1,9} tokens/i, "cline/cline#995 (GitHub Models)"],
  [/token count\b[^.]{0,60}(?:exceed|only supports up to|(?:larger|greater) than)/i, "googleapis/python-genai#2050"],
  [
    /\b(?:prompt|input|request|sequence|total)\b[^.]{0,60}(?<![_\w]|max |output |completion |new )tokens?\b[^.]{0,60} exceed(?:s|ed|ing)? [^.]{0,40}(?:limit|max(?:imum)?)\b/i,
    "proxies; no public thread found"
  ],
  [
    /\btokens? in (?:the )?(?:request|prompt|input)\b[^.]{0,40} (?:more|greater|larger) than/i,
    "Baidu Qianfan; no public thread found"
  ],
  [/(?:prompt|input)\b[^.]{0,40} exceeds [^.]{0,40}allowed (?:input )?tokens/i, "proxies; no public thread found"],
  [/maximum allowed (?:number of )?(?:input|prompt) tokens/i, "proxies; no public thread found"],
  [/token limit exceeded: \d{1,12} > \d{1,12}|sequence length \d{1,12} exceeds/i, "proxies; no public thread found"],
  [/\binput (?:characters|tokens) limit of \d{1,12} exceeded|remaining context/i, "proxies; no public thread found"],
  [
    /(?<!max_|output |completion )\btokens\b[^.]{0,60} (?:must not|may not|cannot|should not) exceed (?!.{0,20}output)/i,
    "proxies; no public thread found"
  ],
  [
    /\bat most [\d,]{3,12} tokens (?:are |is )?(?:supported|allowed)(?! (?:for|as) output)/i,
    "proxies; no public thread found"
  ],
  [
    /\b(?:conversation|prompt|input|context|history|text)\b [^.:]{0,20}too (?:long|large|big)\b/i,
    "proxies; no public thread found"
  ],
  [
    /\b(?:conversation|prompt|input|messages|context)(?:_tokens| tokens)?\b[^.]{0,40}(?:exceeds?|exceeded|(?:greater|larger|more) than|above|>)[^.\d]{0,30}(?:\d[\d,]{3,12}|\d{1,4}k)\b/i,
    "proxies; no public thread found"
  ],
  [
    /\b(?:conversation|prompt|input|messages|context)\b[^.]{0,30}\d[\d,]{0,12}k? tokens\b[^.]{0,30}\b(?:limit|max)/i,
    "proxies; no public thread found"
  ],
  [/context overflow|shorten (?:your|the) (?:prompt|input|messages|conversation)/i, "proxies; no public thread found"],
  [/\bn_ctx\b/, "https://github.com/ggml-org/llama.cpp/tree/master/tools/server"],
  [
    /string too long\. Expected a string with maximum length \d{6,12}/i,
    "https://platform.openai.com/docs/guides/error-codes"
  ],
  [/too many (?:input |prompt )?tokens/i, "https://docs.mistral.ai/api"],
  [
    /reduce the length of (?:the |your )?(?:messages|prompt|input)/i,
    "https://platform.openai.com/docs/guides/error-codes"
  ],
  [/超长|长度超限|上下文长度|超[出过].{0,12}(?:长度|上下文)|输入.{0,8}过长/, "open-octo/octo-agent#2124 (Zhipu)"]
])

const filters = rows("ContentFiltered", [
  [
    /content_policy|content.?filter|content management policy/i,
    "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter"
  ],
  [
    /safety system|prohibited_content|input was flagged|data_inspection_failed|(?:inappropriate|harmful|sensitive) (?:words|content)/i,
    "https://help.aliyun.com/zh/model-studio/error-code"
  ],
  [
    /violat(?:es?|ed|ing|ion of) (?:our|the|its) (?:usage|content|acceptable use|safety) polic|blocked by [^.]{0,30}(?:safety|moderation|guardrail)/i,
    "https://platform.openai.com/docs/guides/safety-best-practices"
  ],
  [/敏感(?:词|内容|信息)|违规内容|内容安全|不当内容/, "https://help.aliyun.com/zh/model-studio/error-code"],
  [/ResponsibleAIPolicyViolation/, "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter"]
])

const others: ReadonlyArray<Words> = [
  ...rows("Overloaded", [
    [
      /overloaded|unavailable|at capacity|server_error|internal (?:server )?error|bad gateway|api_error/i,
      "https://platform.openai.com/docs/guides/error-codes"
    ]
  ]),
  ...rows("Timeout", [
    [/timed? ?out|time-?out|deadline_exceeded/i, "https://ai.google.dev/gemini-api/docs/troubleshooting"]
  ]),
  ...rows("Authentication", [
    [
      /invalid_api_key|(?:invalid|incorrect|wrong|expired|missing|no valid) api[- _]?key|api[- _]?key (?:is )?(?:not valid|invalid|incorrect|expired|missing|not found)|authentication_?error|unauthorized|permission_error/i,
      "https://platform.openai.com/docs/guides/error-codes"
    ]
  ]),
  ...rows("InvalidRequest", [
    [/invalid_request|not_found|unsupported/i, "https://platform.openai.com/docs/guides/error-codes"]
  ])
]

/** All rows, in the order in which they are tried. */
export const vendorWords: ReadonlyArray<Words> = [...rateLimits, ...quotas, ...overflows, ...filters, ...others]

/** Returns the reason that a text indicates, or `undefined` if no phrase matches. */
export const meaningOfWords = (text: string): Words["means"] | undefined =>
  vendorWords.find(({ pattern }) => pattern.test(text))?.means

/**
 * Error codes that are unambiguous regardless of the status, because proxies send them with 500, 400 or 403. Sources:
 * the error code documentation of OpenAI, Azure, DeepSeek, xAI, OpenRouter and llama.cpp.
 */
export const vendorCodes: Readonly<Record<string, WorkerErrorReason["_tag"]>> = {
  context_length_exceeded: "ContextTooLong",
  model_max_prompt_tokens_exceeded: "ContextTooLong",
  exceed_context_size_error: "ContextTooLong",
  context_window_exceeded: "ContextTooLong",
  model_context_window_exceeded: "ContextTooLong",
  insufficient_quota: "Quota",
  insufficient_balance: "Quota",
  billing_hard_limit_reached: "Quota",
  billing_not_active: "Quota",
  rate_limit_exceeded: "RateLimited",
  rate_limit_error: "RateLimited",
  too_many_requests: "RateLimited",
  content_filter: "ContentFiltered",
  content_policy_violation: "ContentFiltered",
  content_policy: "ContentFiltered",
  ResponsibleAIPolicyViolation: "ContentFiltered",
  data_inspection_failed: "ContentFiltered",
  // Groq returns 400 if its model wrote a malformed tool call or invalid JSON.
  tool_use_failed: "Malformed",
  json_validate_failed: "Malformed"
}

const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 } as const

const duration = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/

/** Parses a duration with units, such as `7s`, `6m0s` or `17ms`. Returns milliseconds, or `undefined` if it is invalid. */
export const durationMillis = (text: string): number | undefined =>
  duration.test(text)
    ? [...text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g)].reduce(
        (sum, [, amount, unit]) => sum + Number(amount) * units[unit as keyof typeof units],
        0
      )
    : undefined

/**
 * Settings for well-known servers that differ from OpenAI, for `openaiCompatible`. Each one names the page that
 * documents it; those for vLLM, OpenRouter and DeepSeek were read in November 2026. If a server has changed since,
 * override the setting that differs.
 */
import type { CompatibleOptions } from "./openaiCompatible.ts"

/** Settings for a server. Add a model, and override any setting as needed. */
export interface Preset extends Omit<CompatibleOptions, "model"> {
  readonly name: string
  /** URL of the server's documentation. */
  readonly source: string
}

export const presets = {
  vllm: {
    name: "vllm",
    baseURL: "http://localhost:8000/v1",
    reasoningField: "reasoning",
    reasoningFields: { effort: "reasoning_effort", off: "enable_thinking" },
    source: "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html"
  },
  sglang: {
    name: "sglang",
    baseURL: "http://localhost:30000/v1",
    reasoningField: "reasoning_content",
    reasoningFields: { effort: "reasoning_effort", off: "enable_thinking" },
    source: "https://docs.sglang.ai/basic_usage/openai_api_completions.html"
  },
  llamaServer: {
    name: "llama-server",
    baseURL: "http://localhost:8080/v1",
    reasoningField: "reasoning_content",
    reasoningFields: { off: "enable_thinking" },
    source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"
  },
  ollama: {
    name: "ollama",
    baseURL: "http://localhost:11434/v1",
    reasoningField: "reasoning",
    reasoningFields: { effort: "reasoning_effort", off: "reasoning_effort" },
    source: "https://docs.ollama.com/api/openai-compatibility"
  },
  lmStudio: {
    name: "lm-studio",
    baseURL: "http://localhost:1234/v1",
    reasoningField: "reasoning",
    reasoningFields: { effort: "reasoning_effort" },
    source: "https://lmstudio.ai/docs/developer/openai-compat/chat-completions"
  },
  openRouter: {
    name: "openrouter",
    baseURL: "https://openrouter.ai/api/v1",
    apiKey: { env: "OPENROUTER_API_KEY" },
    usage: "final",
    reasoningField: "reasoning",
    reasoningEcho: "reasoning_details",
    reasoningFields: { effort: "reasoning", budget: "reasoning", off: "reasoning" },
    source: "https://openrouter.ai/docs/use-cases/usage-accounting"
  },
  deepSeek: {
    name: "deepseek",
    baseURL: "https://api.deepseek.com/v1",
    apiKey: { env: "DEEPSEEK_API_KEY" },
    reasoningField: "reasoning_content",
    reasoningEcho: "reasoning_content",
    reasoningFields: { effort: "reasoning_effort", off: "thinking" },
    // The server supports JSON output, but not JSON Schemas.
    capabilities: { jsonSchema: false },
    // While thinking, DeepSeek accepts a temperature but ignores it.
    source: "https://api-docs.deepseek.com/guides/thinking_mode"
  },
  together: {
    name: "together",
    baseURL: "https://api.together.xyz/v1",
    apiKey: { env: "TOGETHER_API_KEY" },
    usage: "final",
    reasoningField: "reasoning",
    reasoningFields: { effort: "reasoning_effort", off: "reasoning" },
    source: "https://docs.together.ai/reference/chat-completions-1"
  }
} as const satisfies Readonly<Record<string, Preset>>

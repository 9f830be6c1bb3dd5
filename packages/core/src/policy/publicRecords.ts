/**
 * How often models were right in public records: counts alone, without a question or an answer. Written by
 * `scripts/publicRecords.ts` of `@divisi/policy-router`.
 */

/** One record of several workers on the same questions. */
export interface PublicRecord {
  readonly name: string
  /** The repository on GitHub, and its commit. */
  readonly repository: string
  readonly licence: string
  /** When it was read. */
  readonly date: string
  readonly workers: ReadonlyArray<string>
  readonly questions: number
  /** Sums of scores, in the order of the workers. */
  readonly right: ReadonlyArray<number>
}

export const publicRecords: ReadonlyArray<PublicRecord> = [
  {
    name: "ZeroEval",
    repository: "WildEval/ZeroEval@8c1485e",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "Llama-3.1-405B-Inst@sambanova",
      "Meta-Llama-3.1-8B-Instruct",
      "Mistral-Large-2",
      "Qwen2-72B-Instruct",
      "claude-3-5-haiku-20241022",
      "claude-3-5-sonnet-20241022",
      "deepseek-v2.5-0908",
      "gemini-1.5-flash",
      "gemini-1.5-pro",
      "gpt-4o-2024-08-06",
      "gpt-4o-mini-2024-07-18"
    ],
    questions: 2119,
    right: [1849, 1427, 1861, 1695, 1796, 1946, 1780, 1715, 1776, 1965, 1850]
  },
  {
    name: "ParetoBandit",
    repository: "ParetoBandit/ParetoBandit@72ccbef",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "google/gemini-2.5-flash",
      "google/gemini-2.5-pro",
      "meta-llama/llama-3.1-8b-instruct",
      "mistralai/mistral-large-2512"
    ],
    questions: 1532,
    right: [1438.5, 1457.5, 1244.5, 1433.5]
  },
  {
    name: "LLMRouter",
    repository: "ulab-uiuc/LLMRouter@4e7a796",
    licence: "MIT",
    date: "2026-11-24",
    workers: [
      "codegemma-7b",
      "gemma-2-9b-it",
      "llama-3.1-8b-instruct",
      "llama-3.1-nemotron-51b-instruct",
      "llama-3.3-nemotron-super-49b-v1",
      "llama3-chatqa-1.5-70b",
      "llama3-chatqa-1.5-8b",
      "mistral-7b-instruct-v0.3",
      "qwen2.5-7b-instruct"
    ],
    questions: 4875,
    right: [1429, 2495.5, 2539, 2860, 2745, 984.5, 776, 1681.5, 2194]
  },
  {
    name: "MMLU-Pro",
    repository: "TIGER-AI-Lab/MMLU-Pro@f418b11",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "Meta-Llama-3_1-70B-Instruct",
      "Meta-Llama-3_1-8B-Instruct",
      "Mistral-7B-Instruct-v0.2",
      "Mixtral-8x7B-Instruct-v0.1",
      "Phi-3-mini-4k-instruct",
      "Qwen1.5-72B-Chat",
      "c4ai-command-r-v01",
      "gemini-1.5-flash-002",
      "gemini-1.5-pro-002",
      "jamba-1.5-large",
      "mathstral-7B"
    ],
    questions: 3459,
    right: [2173.5, 1557, 1015, 1490, 1467, 1599.5, 1244, 2289, 2579, 1709, 1497]
  },
  {
    name: "reasoning-gym, hard",
    repository: "open-thought/reasoning-gym-eval@5f09fec",
    licence: "Apache-2.0",
    date: "2026-11-24",
    workers: [
      "anthropic_claude-3.5-sonnet",
      "deepseek_deepseek-r1",
      "google_gemma-3-27b-it",
      "meta-llama_llama-3.3-70b-instruct",
      "meta-llama_llama-4-maverick",
      "meta-llama_llama-4-scout",
      "mistralai_mistral-small-3.1-24b-instruct",
      "openai_o3-mini",
      "qwen_qwq-32b",
      "x-ai_grok-3-mini-beta"
    ],
    questions: 2336,
    right: [928.8, 1382.5, 400, 552.1, 919.1, 614.7, 580.1, 1438.6, 990.6, 1261.4]
  }
]

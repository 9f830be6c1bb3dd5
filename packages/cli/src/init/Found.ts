/** What is there to answer with: vendors whose key is in the environment, and servers of models on this machine. */
import type { Environment } from "@divisi/recipes/Environment"
import * as Effect from "effect/Effect"

/** A vendor or a server that was found. */
export interface Found {
  /** As `--pool` names it. */
  readonly vendor: string
  /** How it was found, in words. */
  readonly because: string
  /** Its models to begin with, the planner first; none where they have to be named. */
  readonly models: ReadonlyArray<string>
}

interface Vendor {
  readonly vendor: string
  readonly keys: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
}

const vendors: ReadonlyArray<Vendor> = [
  { vendor: "openai", keys: ["OPENAI_API_KEY"], models: ["gpt-5-mini", "gpt-5"] },
  { vendor: "anthropic", keys: ["ANTHROPIC_API_KEY"], models: ["claude-sonnet-4-6"] },
  { vendor: "google", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], models: ["gemini-2.5-flash"] },
  { vendor: "deepseek", keys: ["DEEPSEEK_API_KEY"], models: ["deepseek-chat"] },
  { vendor: "openrouter", keys: ["OPENROUTER_API_KEY"], models: [] },
  { vendor: "together", keys: ["TOGETHER_API_KEY"], models: [] }
]

/** Servers of one's own, and where they listen unless they are told otherwise. */
const servers = [
  { vendor: "ollama", variable: "OLLAMA_BASE_URL", baseURL: "http://localhost:11434/v1" },
  { vendor: "vllm", variable: "VLLM_BASE_URL", baseURL: "http://localhost:8000/v1" },
  { vendor: "sglang", variable: "SGLANG_BASE_URL", baseURL: "http://localhost:30000/v1" },
  { vendor: "llama-server", variable: "LLAMA_SERVER_BASE_URL", baseURL: "http://localhost:8080/v1" },
  { vendor: "lm-studio", variable: "LM_STUDIO_BASE_URL", baseURL: "http://localhost:1234/v1" }
] as const

/** The variables that are looked at. */
export const variables: ReadonlyArray<string> = [
  ...vendors.flatMap(({ keys }) => keys),
  ...servers.map(({ variable }) => variable)
]

/** Where a server is that does not listen at its usual place; `undefined` for any other vendor or server. */
export const addressOf = (vendor: string, environment: Environment): string | undefined => {
  const server = servers.find((one) => one.vendor === vendor)
  return server && environment[server.variable]
}

/** A server of this machine answers at once. */
const patienceMillis = 700

/** No more models of a server than a first team needs. */
const mostModels = 4

/** Models that write no text stand in the same lists. */
const isChat = (model: string): boolean => !/embed|rerank|whisper|tts|clip|bge-|minilm/i.test(model)

/** The models of a server; `undefined` where none answers. */
const modelsOf = async (baseURL: string): Promise<ReadonlyArray<string> | undefined> => {
  try {
    const response = await fetch(`${baseURL}/models`, {
      signal: AbortSignal.timeout(patienceMillis),
      redirect: "error"
    })
    const { data } = (await response.json()) as { readonly data?: unknown }
    if (!response.ok || !Array.isArray(data)) return undefined
    const ids = data.map((model: { readonly id?: unknown } | null) => model?.id)
    return ids.filter((id) => typeof id === "string" && /^[\w./:@+-]{1,120}$/.test(id) && isChat(id)) as Array<string>
  } catch {
    return undefined
  }
}

/** Looks at the environment, and asks the usual ports. */
export const look = (environment: Environment): Effect.Effect<ReadonlyArray<Found>> =>
  Effect.promise(async () => {
    const keyed = vendors.flatMap(({ keys, models, vendor }): ReadonlyArray<Found> => {
      const key = keys.find((name) => environment[name] !== undefined)
      return key === undefined ? [] : [{ vendor, models, because: `${key} is set` }]
    })
    const answering = await Promise.all(
      servers.map(async ({ baseURL, variable, vendor }): Promise<ReadonlyArray<Found>> => {
        const at = (environment[variable] ?? baseURL).replace(/\/+$/, "")
        const models = await modelsOf(at)
        if (models === undefined) return []
        return [
          { vendor, models: models.slice(0, mostModels), because: `it answers on port ${new URL(at).port || 80}` }
        ]
      })
    )
    return [...keyed, ...answering.flat()]
  })

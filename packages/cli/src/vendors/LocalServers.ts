/** Detects model servers on this machine and their models. */
import type { Environment } from "@divisi/recipes/Environment"
import * as Effect from "effect/Effect"

/** Local model servers with their default addresses. */
export const servers = [
  { vendor: "ollama", variable: "OLLAMA_BASE_URL", baseURL: "http://localhost:11434/v1" },
  { vendor: "vllm", variable: "VLLM_BASE_URL", baseURL: "http://localhost:8000/v1" },
  { vendor: "sglang", variable: "SGLANG_BASE_URL", baseURL: "http://localhost:30000/v1" },
  { vendor: "llama-server", variable: "LLAMA_SERVER_BASE_URL", baseURL: "http://localhost:8080/v1" },
  { vendor: "lm-studio", variable: "LM_STUDIO_BASE_URL", baseURL: "http://localhost:1234/v1" }
] as const

/** A server that responded. */
export interface Answering {
  readonly vendor: string
  readonly baseURL: string
  /** Names of the models that generate text. */
  readonly models: ReadonlyArray<string>
}

/** Timeout in milliseconds. Local servers respond quickly, unless the machine is busy. */
const patienceMillis = 3_000

/** Whether a model generates text. Model lists also contain embedding, speech and other models. */
const isChat = (model: string): boolean => !/embed|rerank|whisper|tts|clip|bge-|minilm/i.test(model)

/** Returns the models of a server, or `undefined` if it does not respond. */
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

/** Queries the addresses set in the environment, or the default ports otherwise. */
export const look = (environment: Environment): Effect.Effect<ReadonlyArray<Answering>> =>
  Effect.promise(async () => {
    const asked = servers.map(async ({ baseURL, variable, vendor }): Promise<ReadonlyArray<Answering>> => {
      const at = (environment[variable] ?? baseURL).replace(/\/+$/, "")
      const models = await modelsOf(at)
      return models === undefined ? [] : [{ vendor, baseURL: at, models }]
    })
    return (await Promise.all(asked)).flat()
  })

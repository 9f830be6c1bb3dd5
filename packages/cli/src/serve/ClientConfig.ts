/** Generates client configuration for a server, in each client's own format. */

/** The supported clients. */
export const clients = ["codex", "claude-code", "opencode", "continue", "open-webui", "langchain"] as const

export type Client = (typeof clients)[number]

/** The server's base URL for OpenAI clients, e.g. `http://127.0.0.1:8080/v1`. */
interface Place {
  readonly url: string
  /** The URL without `/v1`, for Anthropic clients. */
  readonly root: string
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

const texts: { readonly [C in Client]: (place: Place) => string } = {
  // Codex repeats a request if a stream is idle for this long, and planning a large workflow may take some time.
  codex: ({ url }) => `# ~/.codex/config.toml
model = "divisi"
model_provider = "divisi"

[model_providers.divisi]
name = "divisi"
base_url = "${url}"
env_key = "DIVISI_API_KEY"
wire_api = "responses"
stream_idle_timeout_ms = 7200000
# To exclude a worker from every request:
# http_headers = { "x-divisi-exclude" = "openai:gpt-6.1-sol" }
# To receive the plan and the finished steps as separate messages, instead of a reasoning summary:
# http_headers = { "x-divisi-notes-as" = "commentary" }

# Then, in a shell (any value if the server has no keys):
#   export DIVISI_API_KEY=none`,
  "claude-code": ({ root }) => `# In a shell; any value if the server has no keys.
export ANTHROPIC_BASE_URL=${root}
export ANTHROPIC_AUTH_TOKEN=none
export ANTHROPIC_MODEL=divisi
export ANTHROPIC_DEFAULT_HAIKU_MODEL=divisi-fast
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
# To exclude a worker from every request:
# export ANTHROPIC_CUSTOM_HEADERS="x-divisi-exclude: openai:gpt-6.1-sol"`,
  opencode: ({ url }) =>
    json({
      $schema: "https://opencode.ai/config.json",
      model: "divisi/divisi",
      small_model: "divisi/divisi-fast",
      provider: {
        divisi: {
          npm: "@ai-sdk/openai-compatible",
          name: "Divisi",
          options: { baseURL: url, apiKey: "{env:DIVISI_API_KEY}" },
          models: { divisi: { name: "Divisi" }, "divisi-fast": { name: "Divisi, one worker" } }
        }
      }
    }),
  continue: ({ url }) => `# ~/.continue/config.yaml
name: divisi
version: 0.0.1
schema: v1
models:
  - name: Divisi
    provider: openai
    model: divisi
    apiBase: ${url}
    apiKey: none
    roles: [chat, edit, apply]`,
  "open-webui": ({ url }) => `# Environment variables for Open WebUI; any value if the server has no keys.
OPENAI_API_BASE_URL=${url}
OPENAI_API_KEY=none
TASK_MODEL_EXTERNAL=divisi-fast`,
  langchain: ({ url }) => `from langchain_openai import ChatOpenAI

# Any value works as the key if the server has no keys.
model = ChatOpenAI(model="divisi", base_url="${url}", api_key="none")`
}

/** Returns the configuration for a client. */
export const textOf = (client: Client, host: string, port: number): string => {
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  const root = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`
  return texts[client]({ url: `${root}/v1`, root })
}

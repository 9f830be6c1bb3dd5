/**
 * The vendors and servers whose models become workers by name: `openai:gpt-5`, `ollama:qwen3:8b`.
 *
 * Keys and base URLs come from the environment. A vendor's package is loaded when its first model is created; if it is
 * not installed, this fails with Node's error, which names the package.
 */
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Environment, read } from "./Environment.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Settings for creating a model. */
export interface Settings extends Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "reasoning"> {
  readonly id: string
  readonly description?: string | undefined
  readonly apiKey?: string | Redacted.Redacted<string> | undefined
  readonly baseURL?: string | undefined
  /** The number of threads, for models that run in this process. */
  readonly threads?: number | undefined
}

/** A vendor, or a kind of server. */
export interface Vendor {
  readonly name: string
  /** The environment variables for its key. The first one that is set is used. */
  readonly keys: ReadonlyArray<string>
  /** True if its models run in this process. */
  readonly isLocal?: true | undefined
  /** Whether the vendor requires a key. */
  readonly needsKey: boolean
  /** The environment variables for its base URL. */
  readonly baseURLs: ReadonlyArray<string>
  readonly make: (model: string, settings: Settings) => Promise<Worker>
  /** Creates an embedder. Absent if embeddings of this vendor are not supported. */
  readonly embed?:
    | ((model: string, connection: Connection, reading?: Reading) => Effect.Effect<Embed, Error, Scope.Scope>)
    | undefined
}

/** The key and base URL of a vendor. */
export type Connection = Pick<Settings, "apiKey" | "baseURL">

/** Options for embedding texts. */
export interface Reading {
  /** The maximum number of tokens per text, for embedders that run on this machine. Longer texts are truncated. */
  readonly mostTokens?: number | undefined
}

/** Returns a vector for each text, in order. */
export type Embed = (
  texts: ReadonlyArray<string>,
  signal?: AbortSignal
) => Promise<ReadonlyArray<ReadonlyArray<number>>>

/** A parsed `vendor:model` reference. */
export interface Reference {
  readonly vendor: string
  readonly model: string
}

/** Why a worker cannot be created from a reference. */
export type Problem =
  | { readonly type: "vendor"; readonly vendor: string }
  | { readonly type: "key"; readonly variables: ReadonlyArray<string> }

// -------------------------------------------------------------------------------------------------------------------
// Data
// -------------------------------------------------------------------------------------------------------------------

type PresetName = keyof typeof import("@divisi/providers-openai").presets

/** The package of OpenAI and of servers that speak its dialects, where it is installed. */
const openaiPackage = Effect.tryPromise({
  try: () => import("@divisi/providers-openai"),
  catch: (error) => error as Error
})

/** Embeddings of OpenAI, or of a server that has the same endpoint. */
const embedWith = (model: string, connection: Connection) =>
  Effect.map(openaiPackage, ({ openaiEmbeddings }) => openaiEmbeddings(model, connection))

/** A server that speaks Chat Completions, in what it is known to differ. */
const preset = (name: string, preset: PresetName, variable: string, needsKey: boolean): Vendor => ({
  name,
  keys: [`${variable}_API_KEY`],
  needsKey,
  baseURLs: [`${variable}_BASE_URL`],
  make: async (model, settings) => {
    const { openaiCompatible, presets } = await import("@divisi/providers-openai")
    // Without a key of its own the preset's would be looked for in the environment once more.
    const { apiKey: _, ...known }: (typeof presets)[PresetName] & { readonly apiKey?: unknown } = presets[preset]
    return openaiCompatible({
      ...known,
      ...settings,
      baseURL: settings.baseURL ?? known.baseURL,
      model,
      provider: name
    })
  },
  embed: (model, connection) =>
    Effect.flatMap(openaiPackage, ({ presets }) =>
      embedWith(model, { ...connection, baseURL: connection.baseURL ?? presets[preset].baseURL })
    )
})

/** Any other server that speaks Chat Completions, whose base URL is in the environment. */
const unknownServer = (name: string, variable: string): Vendor => ({
  name,
  keys: [`${variable}_API_KEY`],
  needsKey: false,
  baseURLs: [`${variable}_BASE_URL`],
  make: async (model, settings) => {
    const { openaiCompatible } = await import("@divisi/providers-openai")
    return openaiCompatible({
      ...settings,
      baseURL: settings.baseURL ?? "",
      model,
      provider: name
    })
  },
  embed: embedWith
})

/** The vendors and servers with built-in support. */
export const vendors: ReadonlyArray<Vendor> = [
  {
    name: "openai",
    keys: ["OPENAI_API_KEY"],
    needsKey: true,
    baseURLs: ["OPENAI_BASE_URL"],
    make: async (model, settings) => (await import("@divisi/providers-openai")).openai(model, settings),
    embed: embedWith
  },
  {
    name: "openai-chat",
    keys: ["OPENAI_API_KEY"],
    needsKey: true,
    baseURLs: ["OPENAI_BASE_URL"],
    make: async (model, settings) => (await import("@divisi/providers-openai")).openaiChat(model, settings)
  },
  {
    name: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    needsKey: true,
    baseURLs: ["ANTHROPIC_BASE_URL"],
    make: async (model, settings) => (await import("@divisi/providers-anthropic")).anthropic(model, settings)
  },
  {
    name: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    needsKey: true,
    baseURLs: ["GEMINI_BASE_URL", "GOOGLE_BASE_URL"],
    make: async (model, settings) => (await import("@divisi/providers-google")).google(model, settings)
  },
  preset("openrouter", "openRouter", "OPENROUTER", true),
  preset("deepseek", "deepSeek", "DEEPSEEK", true),
  preset("together", "together", "TOGETHER", true),
  preset("ollama", "ollama", "OLLAMA", false),
  preset("vllm", "vllm", "VLLM", false),
  preset("sglang", "sglang", "SGLANG", false),
  preset("llama-server", "llamaServer", "LLAMA_SERVER", false),
  preset("lm-studio", "lmStudio", "LM_STUDIO", false)
]

// -------------------------------------------------------------------------------------------------------------------
// Making workers
// -------------------------------------------------------------------------------------------------------------------

/** Converts a name to the form of an environment variable: `my-server` to `MY_SERVER`. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")

/** Parses `vendor:model`. Returns `undefined` if the vendor or the model is missing. */
export const parse = (text: string): Reference | undefined => {
  const colon = text.indexOf(":")
  return colon <= 0 || colon === text.length - 1
    ? undefined
    : { vendor: text.slice(0, colon), model: text.slice(colon + 1) }
}

/** Returns the environment variables for the known vendors and for servers with the given names. */
export const environment = (
  known: ReadonlyArray<Vendor>,
  servers: ReadonlyArray<string> = []
): Effect.Effect<Environment> =>
  read(
    [...known, ...servers.map((name) => unknownServer(name, variableOf(name)))].flatMap(({ baseURLs, keys }) => [
      ...keys,
      ...baseURLs
    ])
  )

/** The first of the variables that is set. */
const firstSet = (names: ReadonlyArray<string>, environment: Environment): string | undefined =>
  names.map((name) => environment[name]).find((value) => value !== undefined && value !== "")

/** Returns the vendor with a name: a known one, or a server whose base URL is set in the environment. */
export const find = (known: ReadonlyArray<Vendor>, name: string, environment: Environment): Vendor | undefined => {
  const found = known.find((vendor) => vendor.name === name)
  if (found !== undefined) return found
  const server = unknownServer(name, variableOf(name))
  return firstSet(server.baseURLs, environment) === undefined ? undefined : server
}

/** Returns the reason why a worker cannot be created, or `undefined` if it can. */
export const problemOf = (
  known: ReadonlyArray<Vendor>,
  { vendor: name }: Reference,
  environment: Environment
): Problem | undefined => {
  const vendor = find(known, name, environment)
  if (vendor === undefined) return { type: "vendor", vendor: name }
  return vendor.needsKey && firstSet(vendor.keys, environment) === undefined
    ? { type: "key", variables: vendor.keys }
    : undefined
}

/** Formats a problem as a sentence about a worker. */
export const explain = (known: ReadonlyArray<Vendor>, worker: string, problem: Problem): string =>
  problem.type === "key"
    ? `${worker} needs a key: set ${problem.variables.join(" or ")}.`
    : `${worker} is not a known vendor. Use one of ${known.map(({ name }) => name).join(", ")} before the ` +
      `colon, or set ${variableOf(problem.vendor)}_BASE_URL to a server with the Chat Completions API.`

/** Returns the key and base URL of a vendor from the environment. */
export const connection = (vendor: Vendor, environment: Environment): Connection => {
  const apiKey = firstSet(vendor.keys, environment)
  const baseURL = firstSet(vendor.baseURLs, environment)
  return { apiKey, baseURL }
}

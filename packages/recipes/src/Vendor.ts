/**
 * Vendors and servers whose models can be used as workers by name: `openai:gpt-6.1-sol`, `ollama:qwen3:8b`.
 *
 * Keys and base URLs are read from the environment. A vendor's package is loaded when its first model is created; if it
 * is not installed, this fails with Node's error, which names the package.
 */
import { Nearest } from "@divisi/core"
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
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
  /** Number of threads, for models that run in this process. */
  readonly threads?: number | undefined
}

/** A vendor or a type of server. */
export interface Vendor {
  readonly name: string
  /** The environment variables that may contain its key. The first one that is set is used. */
  readonly keys: ReadonlyArray<string>
  /** `true` if its models run in this process. */
  readonly isLocal?: true | undefined
  /** Whether the vendor requires a key. */
  readonly needsKey: boolean
  /** The environment variables that may contain its base URL. */
  readonly baseURLs: ReadonlyArray<string>
  readonly make: (model: string, settings: Settings) => Promise<Worker>
  /** Creates an embedder. Undefined if embeddings from this vendor are not supported. */
  readonly embed?:
    | ((model: string, connection: Connection, reading?: Reading) => Effect.Effect<Embed, Error, Scope.Scope>)
    | undefined
}

/** The key and base URL for a vendor. */
export type Connection = Pick<Settings, "apiKey" | "baseURL">

/** Options for computing embeddings. */
export interface Reading {
  /** Maximum number of tokens per text, for embedders that run on this machine. Longer texts are truncated. */
  readonly mostTokens?: number | undefined
}

/** Returns a vector for each text, in the same order. */
export type Embed = (
  texts: ReadonlyArray<string>,
  signal?: AbortSignal
) => Promise<ReadonlyArray<ReadonlyArray<number>>>

/** A parsed reference in the form `vendor:model`. */
export interface Reference {
  readonly vendor: string
  readonly model: string
}

/** The reason why a worker cannot be created from a reference. */
export type Problem =
  | { readonly type: "vendor"; readonly vendor: string }
  | { readonly type: "key"; readonly variables: ReadonlyArray<string> }

// -------------------------------------------------------------------------------------------------------------------
// Data
// -------------------------------------------------------------------------------------------------------------------

type PresetName = keyof typeof import("@divisi/providers-openai").presets

/** Loads the package for OpenAI and compatible servers, if it is installed. */
const openaiPackage = Effect.tryPromise({
  try: () => import("@divisi/providers-openai"),
  catch: (error) => error as Error
})

/** Computes embeddings with OpenAI, or with a server that has a compatible endpoint. */
const embedWith = (model: string, connection: Connection) =>
  Effect.map(openaiPackage, ({ openaiEmbeddings }) => openaiEmbeddings(model, connection))

/** A server compatible with Chat Completions, with a preset for its known differences. */
const preset = (name: string, preset: PresetName, variable: string, needsKey: boolean): Vendor => ({
  name,
  keys: [`${variable}_API_KEY`],
  needsKey,
  baseURLs: [`${variable}_BASE_URL`],
  make: async (model, settings) => {
    const { openaiCompatible, presets } = await import("@divisi/providers-openai")
    // Without an explicit key, the preset would read the environment again.
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

/** Any other server compatible with Chat Completions, with its base URL in an environment variable. */
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

/** Converts a name to environment variable format: `my-server` becomes `MY_SERVER`. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")

/** Parses a reference in the form `vendor:model`. Returns `undefined` if either part is missing. */
export const parse = (text: string): Reference | undefined => {
  const colon = text.indexOf(":")
  return colon <= 0 || colon === text.length - 1
    ? undefined
    : { vendor: text.slice(0, colon), model: text.slice(colon + 1) }
}

/** Reads the environment variables for the known vendors and for servers with the given names. */
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

/** Returns the first variable that is set. */
const firstSet = (names: ReadonlyArray<string>, environment: Environment): string | undefined =>
  names.find((name) => environment[name])

/** Returns the vendor with a name: a known vendor, or a server whose base URL is set in the environment. */
export const find = (known: ReadonlyArray<Vendor>, name: string, environment: Environment): Vendor | undefined => {
  const found = known.find((vendor) => vendor.name === name)
  if (found !== undefined) return found
  const server = unknownServer(name, variableOf(name))
  return firstSet(server.baseURLs, environment) === undefined ? undefined : server
}

/** Returns the reason why a worker cannot be created from a reference; `undefined` if it can. */
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

/** Whether the text before a reference's first colon is the scheme of a URL. */
const isURL = (vendor: string): boolean => /^(https?|wss?)$/i.test(vendor)

/** Describes a problem in a sentence that names the worker. */
export const explain = (known: ReadonlyArray<Vendor>, worker: string, problem: Problem, meant?: string): string => {
  if (problem.type === "key") return `${worker} needs a key: set ${problem.variables.join(" or ")}.`
  const { vendor } = problem
  // The URL is not repeated, because it may contain a password.
  if (isURL(vendor)) {
    return "A worker cannot be named by a URL. Set LOCAL_BASE_URL to the URL of the server, and use local:<model>."
  }
  return (
    `Unknown vendor "${vendor}" in "${worker}".${Nearest.didYouMean(meant)} Use one of ${known.map(({ name }) => name).join(", ")}, or set ` +
    `${variableOf(vendor)}_BASE_URL to the URL of a server that supports the Chat Completions API.`
  )
}

/** Returns the key and base URL for a vendor from the environment. */
export const connection = (vendor: Vendor, environment: Environment): Connection => {
  const label = firstSet(vendor.keys, environment)
  const address = firstSet(vendor.baseURLs, environment)
  return {
    // Errors of a refused key name its label.
    apiKey: label === undefined ? undefined : Redacted.make(environment[label]!, { label }),
    baseURL: address === undefined ? undefined : environment[address]
  }
}

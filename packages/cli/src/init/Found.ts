/** Detects available models: vendors with an API key in the environment, and model servers on this machine. */
import type { Environment } from "@divisi/recipes/Environment"
import * as Effect from "effect/Effect"
import * as LocalServers from "../vendors/LocalServers.ts"

/** An available vendor or model server. */
export interface Found {
  /** The vendor's name as accepted by `--pool`. */
  readonly vendor: string
  /** How it was detected, for display. */
  readonly because: string
  /** Suggested models, the planner first. Empty if the user must choose the models. */
  readonly models: ReadonlyArray<string>
}

interface Vendor {
  readonly vendor: string
  readonly keys: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
}

const vendors: ReadonlyArray<Vendor> = [
  { vendor: "openai", keys: ["OPENAI_API_KEY"], models: ["gpt-6.1-terra", "gpt-6.1-sol"] },
  { vendor: "anthropic", keys: ["ANTHROPIC_API_KEY"], models: ["claude-sonnet-4-6"] },
  { vendor: "google", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], models: ["gemini-3.5-flash-lite"] },
  { vendor: "deepseek", keys: ["DEEPSEEK_API_KEY"], models: ["deepseek-chat"] },
  { vendor: "openrouter", keys: ["OPENROUTER_API_KEY"], models: [] },
  { vendor: "together", keys: ["TOGETHER_API_KEY"], models: [] }
]

/** The environment variables that are checked. */
export const variables: ReadonlyArray<string> = [
  ...vendors.flatMap(({ keys }) => keys),
  ...LocalServers.servers.map(({ variable }) => variable)
]

/** Returns the address of a model server that does not use its default address, or `undefined` otherwise. */
export const addressOf = (vendor: string, environment: Environment): string | undefined => {
  const server = LocalServers.servers.find((one) => one.vendor === vendor)
  return server && environment[server.variable]
}

/** Maximum number of models to suggest from one model server. */
const mostModels = 4

/** Checks the environment variables and default ports. */
export const look = (environment: Environment): Effect.Effect<ReadonlyArray<Found>> => {
  const keyed = vendors.flatMap(({ keys, models, vendor }): ReadonlyArray<Found> => {
    const key = keys.find((name) => environment[name] !== undefined)
    return key === undefined ? [] : [{ vendor, models, because: `${key} is set` }]
  })
  return Effect.map(LocalServers.look(environment), (answering) => [
    ...keyed,
    ...answering.map(({ baseURL, models, vendor }) => ({
      vendor,
      models: models.slice(0, mostModels),
      because: `it responds on port ${new URL(baseURL).port || 80}`
    }))
  ])
}

/**
 * The seven workers from the Conductor paper as data: each model's providers, its parameters in the paper's two
 * settings, and its shutdown date. The dates were read from the listed pages in November 2026.
 */
import type { Settings } from "../Vendor.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The paper's settings. `controlled` is used for training: 4096 output tokens, temperature 0.2, minimal reasoning. */
export type PaperSetting = "controlled" | "unconstrained"

type Setup = Omit<Settings, "id" | "description" | "apiKey" | "baseURL">

/** A vendor's model with its settings. */
export interface Model {
  readonly model: string
  readonly settings: Readonly<Record<PaperSetting, Setup>>
}

/** A provider that serves a model. */
export interface Route extends Model {
  readonly vendor: string
}

/** The date on which a vendor shuts down a model, and the recommended successor. */
export interface ShutDown {
  readonly date: string
  readonly source: string
  readonly successor: Model
}

/** A worker in the paper's pool. */
export interface Seat {
  readonly id: string
  /** The providers, in the order in which they are tried. */
  readonly routes: ReadonlyArray<Route>
  /** Set if the first provider has announced the shutdown of its model. */
  readonly shutDown?: ShutDown | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Data
// -------------------------------------------------------------------------------------------------------------------

const controlled = { maxOutputTokens: 4_096, temperature: 0.2 } as const
const off = { type: "off" } as const
const effort = (effort: "minimal" | "low" | "high") => ({ type: "effort", effort }) as const
const budget = (tokens: number) => ({ type: "budget", tokens }) as const

/** Creates the seat of an open model: self-hosted under the name of its weights, or through OpenRouter. */
const open = (
  id: string,
  names: { readonly weights: string; readonly openRouter: string },
  maxOutputTokens: number,
  reasoning: { readonly own?: Setup["reasoning"] | undefined; readonly hosted?: Setup["reasoning"] | undefined } = {}
): Seat => {
  const settings = (reasoning: Setup["reasoning"]): Model["settings"] => ({
    controlled: { ...controlled, reasoning },
    unconstrained: { maxOutputTokens, reasoning }
  })
  const hosted = settings(reasoning.hosted)
  return {
    id,
    routes: [
      { vendor: "vllm", model: names.weights, settings: settings(reasoning.own) },
      {
        vendor: "openrouter",
        model: names.openRouter,
        // A thinking budget is only set in the controlled setting.
        settings: reasoning.hosted?.type === "budget" ? { ...hosted, unconstrained: { maxOutputTokens } } : hosted
      }
    ]
  }
}

const qwen = { weights: "Qwen/Qwen3-32B", openRouter: "qwen/qwen3-32b" }

/** The workers of the pool, in the paper's order. */
export const seats: ReadonlyArray<Seat> = [
  {
    id: "gemini-2.5-pro",
    routes: [
      {
        vendor: "google",
        model: "gemini-2.5-pro",
        settings: {
          controlled: { ...controlled, reasoning: budget(128) },
          unconstrained: { maxOutputTokens: 65_536, reasoning: budget(32_768) }
        }
      }
    ],
    shutDown: {
      date: "2026-12-01",
      source: "https://ai.google.dev/gemini-api/docs/deprecations",
      successor: {
        model: "gemini-3.8-flash",
        settings: {
          controlled: { ...controlled, reasoning: effort("low") },
          unconstrained: { maxOutputTokens: 65_536, reasoning: effort("high") }
        }
      }
    }
  },
  {
    id: "claude-sonnet-4",
    routes: [
      {
        vendor: "anthropic",
        model: "claude-sonnet-4-20250514",
        settings: {
          controlled: { ...controlled, reasoning: off },
          unconstrained: { maxOutputTokens: 64_000, reasoning: budget(60_000) }
        }
      }
    ],
    shutDown: {
      date: "2026-06-15",
      source: "https://platform.claude.com/docs/en/about-claude/model-deprecations",
      successor: {
        model: "claude-sonnet-4-6",
        settings: {
          controlled: { ...controlled, reasoning: off },
          unconstrained: { maxOutputTokens: 64_000, reasoning: budget(60_000) }
        }
      }
    }
  },
  {
    id: "gpt-5",
    routes: [
      {
        vendor: "openai",
        model: "gpt-5",
        // The model accepts only its default temperature.
        settings: {
          controlled: { maxOutputTokens: 4_096, reasoning: effort("minimal") },
          unconstrained: { maxOutputTokens: 128_000, reasoning: effort("high") }
        }
      }
    ],
    shutDown: {
      date: "2026-12-11",
      source: "https://developers.openai.com/api/docs/deprecations",
      successor: {
        model: "gpt-5.6-sol",
        settings: {
          controlled: { maxOutputTokens: 4_096, reasoning: off },
          unconstrained: { maxOutputTokens: 128_000, reasoning: effort("high") }
        }
      }
    }
  },
  open(
    "deepseek-r1-distill-qwen-32b",
    { weights: "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", openRouter: "deepseek/deepseek-r1-distill-qwen-32b" },
    32_768
  ),
  open("gemma-3-27b-it", { weights: "google/gemma-3-27b-it", openRouter: "google/gemma-3-27b-it" }, 8_192),
  open("qwen3-32b-thinking", qwen, 32_768, { hosted: budget(128) }),
  open("qwen3-32b", qwen, 32_768, { own: off, hosted: off })
]

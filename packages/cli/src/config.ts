/**
 * Types for `divisi.config.ts`, which configures workers, policy and limits.
 *
 * This module has no heavy imports, so that loading a config stays fast.
 */
import type { Check } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { RunSettings } from "@divisi/core/RunSettings"
import type { Pricing } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type { DiskCache } from "@divisi/files"
import type { Limits } from "@divisi/provider-kit/ProviderGate"
import type { Recipe } from "@divisi/recipes"
import type { Redacted } from "effect/Redacted"

export type { DryRunFacts, Recipe, RecipeOptions, Training } from "@divisi/recipes"

/** A string, or a secret created with `Redacted.make`. Secrets never appear in messages. */
type Secret = string | Redacted<string>

/**
 * An MCP server whose tools workers may use. Set either `command`, to start a program, or `url`, to connect to a
 * server.
 */
export interface McpServer {
  /** The program to start (without a shell). It is stopped when the run ends. */
  readonly command?: string | undefined
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Additional environment variables for the program. By default it only receives PATH, HOME, certificate locations and
   * a few others.
   */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  readonly cwd?: string | undefined
  /** URL of a server that supports streamable HTTP. */
  readonly url?: string | URL | undefined
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  /** Names of the tools that workers may use. Default: all. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * Which tools require approval by a person: all (`true`), none (`false`), or a list of tool names. Default: all tools
   * except those that the server declares read-only.
   */
  readonly needsApproval?: boolean | ReadonlyArray<string> | undefined
  /** Timeout for a tool call, in milliseconds. Default: 60,000. */
  readonly timeoutMillis?: number | undefined
  /** Timeout for starting the server, in milliseconds. Default: 30,000. */
  readonly startMillis?: number | undefined
  /** Maximum length of a tool result, in characters. Longer results are truncated. Default: 100,000. */
  readonly maxResultCharacters?: number | undefined
}

/** Limits on requests to `divisi serve`. */
export interface RequestLimits {
  readonly bodyBytes?: number | undefined
  readonly depth?: number | undefined
  readonly values?: number | undefined
  readonly plainBytes?: number | undefined
  readonly frameBytes?: number | undefined
  readonly textBytes?: number | undefined
  readonly mediaBytes?: number | undefined
  readonly inFlightBytes?: number | undefined
  readonly callerInFlightBytes?: number | undefined
}

/** Settings for `divisi serve`, in addition to the team. */
export interface Serve {
  /**
   * Model aliases, such as `{ "gpt-4o": "divisi-fast" }`, for clients that only support certain model names. `--alias`
   * adds more.
   */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /**
   * The model behind `divisi-fast`: a worker id, or a policy name as accepted by `--policy`. Overridden by `--fast`.
   */
  readonly fast?: string | undefined
  /**
   * Policies that a request may select instead of the default, as accepted by `--policy`, e.g. `["router:half",
   * "lexical"]`. Overridden by `--policies`.
   */
  readonly policies?: ReadonlyArray<string> | undefined
  /**
   * URL of a Postgres database shared by several servers, also used by `divisi key`. Overridden by `--database` and
   * `DIVISI_DATABASE`.
   */
  readonly database?: Secret | undefined
  /** Origins of web pages that may call the server, such as `["http://localhost:3000"]`. `--allow-origin` adds more. */
  readonly origins?: ReadonlyArray<string> | undefined
  /**
   * Request limits: body size in bytes (`bodyBytes`), body size without inline images and files (`plainBytes`),
   * WebSocket frame size (`frameBytes`), nesting depth (`depth`), number of values and keys (`values`), size of one
   * string (`textBytes`), size of one inline image or file (`mediaBytes`), and bytes in flight in total
   * (`inFlightBytes`) and per caller (`callerInFlightBytes`). Changes take effect after a restart of the server.
   */
  readonly limits?: RequestLimits | undefined
  /**
   * Whether questions, answers and tool results are stored. `"none"` keeps runs in memory only. Overridden by
   * `--content`. Changes take effect after a restart of the server. Default: `"full"`.
   */
  readonly content?: "full" | "none" | undefined
  /**
   * The model that answers an agent's housekeeping requests, such as titles: `divisi-fast` (`"fast"`), or the requested
   * model (`"as-asked"`). Default: `"fast"`.
   */
  readonly housekeeping?: "fast" | "as-asked" | undefined
}

/** Settings for `divisi run`, `divisi gym solve`, `divisi train` and other commands. Flags override them. */
export interface Config extends Omit<RunSettings, "checks"> {
  /** The workers. Policies refer to them by their index in this list. Default: the workers of the offline gym. */
  readonly pool?: WorkerPool | ReadonlyArray<Worker> | undefined
  /**
   * The planning policy, or a policy name as accepted by `--policy`. By default, runs in the gym and evaluation
   * commands use `"lexical"`; a pool with several language models uses `"router"`, which selects one of them.
   */
  readonly policy?: Policy | string | undefined
  /**
   * Named checks that plans can apply to step answers. A check is a function, or a string as in `--policy checked:…`:
   * `"command:npm test"`, `"schema:invoice.schema.json"`, `"grader"`, or the id of a worker that judges the answer.
   * Planning models receive the names; the router applies the check if there is only one. `--check` adds more.
   */
  readonly checks?: Readonly<Record<string, Check.Check | string>> | undefined
  /** File for caching worker answers, so that identical calls are charged only once. Default: no cache. */
  readonly cache?: string | DiskCache.Options | undefined
  /**
   * Rate limits by provider (the `provider` of a worker). `"*"` applies to all other providers. Limits reported by a
   * vendor are always respected.
   */
  readonly limits?: Readonly<Record<string, Limits>> | undefined
  /**
   * MCP servers by name (letters, digits, `_` and `-`). Their tools are available in `divisi run`, `chat` and `mcp` as
   * `server__tool`. Requires the package `@divisi/tools-mcp`.
   */
  readonly mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /**
   * Prices by worker id: a list price in USD, or 0. Overrides built-in prices; `"*"` applies to all workers without a
   * known price. Overridden by `--price`.
   */
  readonly prices?: Readonly<Record<string, 0 | Pricing>> | undefined
  /** Named recipes for `divisi train --recipe`. They take precedence over built-in recipes. */
  readonly recipes?: Readonly<Record<string, Recipe>> | undefined
  /**
   * How long to retain runs, server responses, outcomes with their ratings, and cached answers, e.g. `"30d"`. `divisi
   * serve` deletes older data at startup and every hour; `divisi runs purge` deletes it immediately. Overridden by
   * `--keep`. Default: 30 days for responses, no limit for everything else.
   */
  readonly retention?: string | undefined
  /** Settings for `divisi serve`. */
  readonly serve?: Serve | undefined
}

/**
 * Returns the config unchanged. Provides type checking and completion in editors.
 *
 * **Example**
 *
 * ```ts
 * import { defineConfig } from "@divisi/cli/config"
 * import { messageText, worker } from "@divisi/core/promise"
 *
 * export default defineConfig({
 *   pool: [worker({ id: "shouting", answer: ({ messages }) => messageText(messages.at(-1)).toUpperCase() })],
 *   policy: "single:shouting",
 *   budget: { costUsd: 0.05, durationMillis: 60_000 }
 * })
 * ```
 */
export const defineConfig = (config: Config): Config => config

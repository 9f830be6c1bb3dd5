/**
 * The fields of a `divisi.config.ts`: workers, policy and limits.
 *
 * This module has no heavy imports, so a config that imports it loads fast.
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

/** A string that may be a secret (`Redacted.make`). Secrets are never shown in messages. */
type Secret = string | Redacted<string>

/** An MCP server whose tools workers may use: a program to start, or a URL to reach. */
export interface McpServer {
  /** The program to start, without a shell. It is stopped when the run ends. */
  readonly command?: string | undefined
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Environment variables of the program, in addition to PATH, HOME, certificate locations and a few others. It
   * receives no other variables of this process.
   */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  readonly cwd?: string | undefined
  /** The URL of a server with streamable HTTP, instead of a program. */
  readonly url?: string | URL | undefined
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  /** The tools that may be used, by their names on the server. Default: all. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * The tools that a person must approve before they run: all, none, or those with the given names on the server.
   * Default: all except those that the server declares read-only.
   */
  readonly needsApproval?: boolean | ReadonlyArray<string> | undefined
  /** The time limit of a call, in milliseconds. Default: 60,000. */
  readonly timeoutMillis?: number | undefined
  /** The time limit of its start, in milliseconds. Default: 30,000. */
  readonly startMillis?: number | undefined
  /** The maximum length of a result, in characters. Longer results are truncated. Default: 100,000. */
  readonly maxResultCharacters?: number | undefined
}

/** Limits of the requests of `divisi serve`. */
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

/** Settings of `divisi serve`, in addition to the team. */
export interface Serve {
  /**
   * Aliases of its models, such as `{ "gpt-4o": "divisi-fast" }`, for clients that only support certain model names.
   * `--alias` adds more.
   */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** The model behind `divisi-fast`: the id of a worker, or a policy name as in `--policy`. `--fast` overrides it. */
  readonly fast?: string | undefined
  /**
   * Policies that a request may select instead of the default, by their names in `--policy`, such as
   * `["router:half", "lexical"]`. `--policies` overrides it.
   */
  readonly policies?: ReadonlyArray<string> | undefined
  /**
   * The Postgres database that several servers share, as in `--database`. `divisi key` also uses it. `--database` and
   * `DIVISI_DATABASE` override it.
   */
  readonly database?: Secret | undefined
  /**
   * The origins of web pages that may use the server, such as `["http://localhost:3000"]`. `--allow-origin` adds more.
   */
  readonly origins?: ReadonlyArray<string> | undefined
  /**
   * Limits of a request: the bytes of its body (`bodyBytes`), of its body without inline images and files
   * (`plainBytes`), of a WebSocket frame (`frameBytes`), its depth (`depth`), its values and keys (`values`), one text
   * (`textBytes`), one inline image or file (`mediaBytes`), the bytes in flight of all callers (`inFlightBytes`) and of
   * one caller (`callerInFlightBytes`). Changes require a restart of the server.
   */
  readonly limits?: RequestLimits | undefined
  /**
   * Whether questions, answers and tool results are stored: `"full"` (the default), or `"none"`, which stores runs only
   * in memory. `--content` overrides it. Changes require a restart of the server.
   */
  readonly content?: "full" | "none" | undefined
  /**
   * The model for housekeeping requests of agents, such as titles: `divisi-fast` (`"fast"`, the default), or the
   * requested model.
   */
  readonly housekeeping?: "fast" | "as-asked" | undefined
}

/** The settings of `divisi run`, `divisi gym solve` and `divisi train`. Flags override them. */
export interface Config extends Omit<RunSettings, "checks"> {
  /** The workers, in the order of their indices for policies. Default: the workers of the offline gym. */
  readonly pool?: WorkerPool | ReadonlyArray<Worker> | undefined
  /**
   * The planning policy, or its name as in `--policy`. By default, runs in the gym and measuring commands use
   * `"lexical"`; a pool of several language models uses `"router"`, which asks one of them.
   */
  readonly policy?: Policy | string | undefined
  /**
   * Checks that plans can apply to the answers of steps, by name: checks in code, or strings as in
   * `--policy checked:…`: `"command:npm test"`, `"schema:invoice.schema.json"`, `"grader"`, or a worker of the pool
   * that judges. A planning chat model receives their names; the router applies the check if there is only one.
   * `--check` adds more.
   */
  readonly checks?: Readonly<Record<string, Check.Check | string>> | undefined
  /** The file in which worker answers are cached, so that equal calls are paid for only once. Default: no cache. */
  readonly cache?: string | DiskCache.Options | undefined
  /**
   * Limits on calls by provider (`provider` of the workers). Those under `"*"` apply to all other providers. Limits
   * that a vendor reports are always respected.
   */
  readonly limits?: Readonly<Record<string, Limits>> | undefined
  /**
   * MCP servers by name (letters, digits, `_` and `-`). Their tools are available in `divisi run`, `chat` and `mcp` as
   * `server__tool`. Requires `@divisi/tools-mcp`.
   */
  readonly mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /**
   * Prices of workers, by id: list prices in USD, or 0. They replace known prices; the one under `"*"` applies to all
   * workers with an unknown price. `--price` overrides it.
   */
  readonly prices?: Readonly<Record<string, 0 | Pricing>> | undefined
  /** Recipes of `divisi train --recipe` by name, checked before the built-in ones. */
  readonly recipes?: Readonly<Record<string, Recipe>> | undefined
  /**
   * How long runs, server responses, outcomes with their ratings and cached answers are stored, such as `"30d"`.
   * Default: responses for 30 days, everything else forever. `divisi serve` removes older data at startup and every
   * hour; `divisi runs purge` removes it immediately. `--keep` overrides it.
   */
  readonly retention?: string | undefined
  /** Settings of `divisi serve`. */
  readonly serve?: Serve | undefined
}

/**
 * Returns the config unchanged. It gives the config its type.
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

/**
 * The fields of a `divisi.config.ts`: workers, policy and limits.
 *
 * This module is light: a config that imports it costs nothing but itself.
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

/** A text that may be a secret (`Redacted.make`); no message shows one. */
type Secret = string | Redacted<string>

/** An MCP server whose tools workers may use: a program to start, or a URL to reach. */
export interface McpServer {
  /** The program, started without a shell; it ends with the run. */
  readonly command?: string | undefined
  readonly args?: ReadonlyArray<string> | undefined
  /** Added to PATH, HOME, where certificates are and the like: it sees no other variable of this process. */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  readonly cwd?: string | undefined
  /** A server over streamable HTTP, instead of a program. */
  readonly url?: string | URL | undefined
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  /** The tools that may be used, by the server's own names; all when absent. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * Which tools a person is asked about before they run: all, none, or those that are named, by the server's own names.
   * When absent, all but those that the server calls read-only.
   */
  readonly needsApproval?: boolean | ReadonlyArray<string> | undefined
  /** How long a call may take, in milliseconds; 60,000 by default. */
  readonly timeoutMillis?: number | undefined
  /** How long it may take to start, in milliseconds; 30,000 by default. */
  readonly startMillis?: number | undefined
  /** Maximum length of a result in characters; 100,000 by default. A longer one is truncated. */
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

/** Settings of `divisi serve` besides the team itself. */
export interface Serve {
  /**
   * Other names of its models, as in `{ "gpt-4o": "divisi-fast" }`, for clients that know no name but their own. `--alias`
   * adds to them.
   */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /**
   * The model behind `divisi-fast`: a worker by its id, or a policy by the name that `--policy` takes. `--fast`
   * overrides it.
   */
  readonly fast?: string | undefined
  /**
   * Policies that a request may name instead of `divisi`'s own, by the names that `--policy` takes, as in
   * `["router:half", "lexical"]`. `--policies` overrides it.
   */
  readonly policies?: ReadonlyArray<string> | undefined
  /**
   * The Postgres that several servers share, in the form of `--database`; `divisi key` also uses it. `--database` and
   * `DIVISI_DATABASE` win over it.
   */
  readonly database?: Secret | undefined
  /** The web pages that may use the server, by their origins, as in `["http://localhost:3000"]`. `--allow-origin` adds to them. */
  readonly origins?: ReadonlyArray<string> | undefined
  /**
   * Limits of a request: the bytes of its body (`bodyBytes`), of its body without inline images and files
   * (`plainBytes`), of a WebSocket frame (`frameBytes`), its depth (`depth`), its values and keys (`values`), one text
   * (`textBytes`), one inline image or file (`mediaBytes`), bytes in flight of all callers (`inFlightBytes`) and of one
   * (`callerInFlightBytes`). They apply from the start of the server.
   */
  readonly limits?: RequestLimits | undefined
  /**
   * Whether questions, answers and tool results are stored: `"full"` (the default), or `"none"`, which holds runs in memory
   * only. `--content` wins over it. It holds from the start of the server.
   */
  readonly content?: "full" | "none" | undefined
  /**
   * The model for housekeeping requests of agents, such as titles: `divisi-fast` (`"fast"`, the default), or the
   * requested model.
   */
  readonly housekeeping?: "fast" | "as-asked" | undefined
}

/**
 * The settings of `divisi run`, `divisi gym solve` and `divisi train`. Flags win over them; what is absent has its
 * default.
 */
export interface Config extends Omit<RunSettings, "checks"> {
  /** The workers, in the order in which a policy counts them; those of the offline gym by default. */
  readonly pool?: WorkerPool | ReadonlyArray<Worker> | undefined
  /**
   * The planning policy, or its name as in `--policy`. By default, runs in the gym and measuring commands use
   * `"lexical"`; a pool of several language models uses `"router"`, which asks one of them.
   */
  readonly policy?: Policy | string | undefined
  /**
   * Checks that plans can apply to the answers of steps, by name: checks in code, or texts as `--policy checked:…`
   * takes them: `"command:npm test"`, `"schema:invoice.schema.json"`, `"grader"`, or a worker of the pool that judges.
   * A chat model that plans receives their names; the router applies the check if there is only one. `--check` adds
   * more.
   */
  readonly checks?: Readonly<Record<string, Check.Check | string>> | undefined
  /** The file of cached worker answers, so that an equal call is not paid for again; none by default. */
  readonly cache?: string | DiskCache.Options | undefined
  /**
   * Limits on calls, by the `provider` of the workers; those under `"*"` apply to all others. The limits that a vendor
   * reports are respected in any case.
   */
  readonly limits?: Readonly<Record<string, Limits>> | undefined
  /**
   * MCP servers, by names of letters, digits, `_` and `-`: their tools are there for `divisi run`, `chat` and `mcp`, each
   * as `server__tool`. They need `@divisi/tools-mcp`.
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
   * How long runs, responses of the server, outcomes with their ratings, and cached answers are stored, as in `"30d"`;
   * without end by default, but responses for 30 days. `divisi serve` removes older ones at startup and every hour;
   * `divisi runs purge` removes them immediately. `--keep` wins over it.
   */
  readonly retention?: string | undefined
  /** Settings of `divisi serve` besides `divisi` and the workers. */
  readonly serve?: Serve | undefined
}

/**
 * Gives a config its type.
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

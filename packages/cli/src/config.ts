/**
 * What a `tutti.config.ts` holds: who may work, who plans, and within which limits.
 *
 * This module is light: a config that imports it costs nothing but itself.
 */
import type { Options } from "@tutti/core/Conductor"
import type { Options as DiskCacheOptions } from "@tutti/core/DiskCache"
import type { Policy } from "@tutti/core/Policy"
import type { Limits } from "@tutti/core/ProviderGate"
import type { Worker } from "@tutti/core/Worker"
import type { WorkerPool } from "@tutti/core/WorkerPool"

/** The settings of `tutti run` and `tutti gym solve`. Flags win over them; what is absent has its default. */
export interface Config extends Partial<Omit<Options, "pool" | "policy">> {
  /** The workers, in the order in which a policy counts them; those of the offline gym by default. */
  readonly pool?: WorkerPool | ReadonlyArray<Worker>
  /** What writes plans: a policy, or one by the name that `--policy` takes. `"lexical"` by default. */
  readonly policy?: Policy | string
  /** The file that workers' answers are kept in, so that an equal call is not paid for again; none by default. */
  readonly cache?: string | DiskCacheOptions
  /**
   * What providers may be asked for at most, by the `provider` of their workers; those under `"*"` hold for all others.
   * What a vendor says is left of its own limits is kept in any case.
   */
  readonly limits?: Readonly<Record<string, Limits>>
}

/**
 * Gives a config its type.
 *
 * **Example**
 *
 * ```ts
 * import { defineConfig } from "@tutti/cli/config"
 * import { worker } from "@tutti/core/promise"
 *
 * export default defineConfig({
 *   pool: [worker({ id: "shouting", answer: ({ messages }) => messages.at(-1)?.content.toUpperCase() ?? "" })],
 *   policy: "single:shouting",
 *   budget: { costUsd: 0.05, durationMillis: 60_000 }
 * })
 * ```
 */
export const defineConfig = (config: Config): Config => config

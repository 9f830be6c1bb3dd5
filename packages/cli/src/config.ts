/**
 * What a `tutti.config.ts` holds: who may work, who plans, and within which limits.
 *
 * This module is light: a config that imports it costs nothing but itself.
 */
import type { Options } from "@tutti/core/Conductor"
import type { Policy } from "@tutti/core/Policy"
import type { Worker } from "@tutti/core/Worker"
import type { WorkerPool } from "@tutti/core/WorkerPool"

/** The settings of `tutti run` and `tutti gym solve`. Flags win over them; what is absent has its default. */
export interface Config extends Partial<Omit<Options, "pool" | "policy">> {
  /** The workers, in the order in which a policy counts them; those of the offline gym by default. */
  readonly pool?: WorkerPool | ReadonlyArray<Worker>
  /** What writes plans: a policy, or one by the name that `--policy` takes. `"lexical"` by default. */
  readonly policy?: Policy | string
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

/** The gate without Effect, for use with `@divisi/core/promise`. */
import { Resilience, Options as Tables } from "@divisi/core"
import { open } from "@divisi/core/promise"
import { layer, type Options, optionsTable } from "./ProviderGate.ts"

/**
 * Opens a gate that enforces providers' limits across all runs that share it: configured limits, limits that vendors
 * report, and the delays that they request.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, worker } from "@divisi/core/promise"
 * import { openGate } from "@divisi/provider-kit/promise"
 *
 * const pool = [worker({ id: "calculator", provider: "me", answer: () => "42" })]
 * const gate = await openGate({ limits: { me: { requestsPerMinute: 60, concurrency: 2 } } })
 * const result = await conduct({ question: "What is 6 times 7?", pool, policy: single(0), gate })
 * result.answer // => "42"
 * ```
 */
export const openGate = async (options: Options = {}): Promise<Resilience.Gate & AsyncDisposable> => {
  Tables.check("openGate", options, optionsTable)
  return open(Resilience.Gate, layer(options))
}

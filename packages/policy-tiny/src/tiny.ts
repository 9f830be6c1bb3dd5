/**
 * The tiny Conductor for programs without scopes: a policy that loads its model with its first plan.
 *
 * The model stays in memory until `release` of `@divisi/policy-llamacpp` or the end of the process.
 */
import type { Policy } from "@divisi/core/Policy"
import { llamacpp } from "@divisi/policy-llamacpp/llamacpp"
import * as TinyConductor from "./TinyConductor.ts"

/**
 * The policy. `TinyConductor.make` says what it leaves to the fallback.
 *
 * **Example**
 *
 * ```ts no-run
 * import { conduct } from "@divisi/core/promise"
 * import { make } from "@divisi/gym/GymPool"
 * import { tiny } from "@divisi/policy-tiny"
 *
 * const question = "How many minutes are there in 3 days?"
 * const { answer } = await conduct({ question, policy: tiny(), pool: make().workers })
 * ```
 */
export const tiny = ({ file = TinyConductor.file, sequences = 4, ...options }: TinyConductor.Options = {}): Policy =>
  TinyConductor.make(llamacpp(file, { ...TinyConductor.settings, sequences }), options)

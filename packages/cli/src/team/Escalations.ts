/** Policies that escalate to another worker: `checked:a+b+command:npm test` and `agreed:a+b+c`. */
import { Escalation } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as Checks from "./Checks.ts"

/** The syntax of each policy name. */
const forms = { checked: "checked:<first>+<then>+<check>", agreed: "agreed:<a>+<b>+<otherwise>" } as const

/** Returns the policy for a name. `value` is the text after the colon. A command may contain plus signs. */
export const resolve = (
  kind: keyof typeof forms,
  value: string,
  pool: WorkerPool.WorkerPool
): Effect.Effect<Policy.Policy, Failure> => {
  const ids = WorkerPool.ids(pool)
  const [first = "", second = "", ...rest] = value.split("+")
  const third = rest.join("+")
  const workers = kind === "agreed" ? [first, second, third] : [first, second]
  if (third === "" || !workers.every((id) => ids.includes(id))) {
    return Effect.fail(
      usage(`Policy "${kind}:${value}" is not valid. Use ${forms[kind]}, where each part is one of: ${ids.join(", ")}.`)
    )
  }
  const name = `${kind}:${value}`
  return kind === "agreed"
    ? Effect.succeed({ ...Escalation.agreed(first, second, third), name })
    : Effect.map(Checks.named('Policy "checked"', pool, third), (check) => ({
        ...Escalation.checked(first, second, check),
        name
      }))
}

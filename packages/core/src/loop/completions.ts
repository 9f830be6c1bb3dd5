/** The completions that a policy requests in a round. Most policies request none. */
import { onDemand } from "../OnDemand.ts"
import type * as Policy from "../policy/Policy.ts"
import type { CallContext } from "./call.ts"

/** The completions requested so far in a round. */
export interface Asked {
  count: number
  readonly said: Array<Policy.ModelResponse>
}

/** Requests the completions of a round. */
export interface Completions {
  readonly complete: Policy.Complete
  readonly asked: Asked
  /** Returns the total original duration of cache hits that are charged, in milliseconds. */
  readonly addedMillis: () => number
}

const withCalls = onDemand(() => import("./completionCalls.ts"))

/** Creates the `complete` function for a round. Completions of a revision are numbered after those in `asked`. */
export const completionsOf = (
  context: CallContext,
  round: number,
  seed: number,
  asked: Asked = { count: 0, said: [] }
): Completions => {
  let calls: Pick<Completions, "complete" | "addedMillis"> | undefined
  return {
    complete: (options) =>
      withCalls(({ completionCalls }) => {
        calls ??= completionCalls(context, round, seed, asked)
        return calls.complete(options)
      }),
    asked,
    addedMillis: () => calls?.addedMillis() ?? 0
  }
}

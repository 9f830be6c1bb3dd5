/** Rejects callers with an exhausted budget before their request body is received. */
import type { Budget } from "@divisi/core"
import type { Spend } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type { Caller } from "../Caller.ts"
import { ApiError } from "../wire/ApiError.ts"

const refused = new ApiError({
  kind: "quota",
  message:
    "The budget of this API key is spent. If its limit is per day or month, wait until the next day or month. Otherwise, ask the server's operator to raise it."
})

const isOver = (
  { calls, costUsd, tokens }: Budget.Limits = {},
  { calls: made, costUsd: paid, usage }: Spend
): boolean =>
  (costUsd !== undefined && paid >= costUsd) ||
  (calls !== undefined && made >= calls) ||
  (tokens !== undefined && usage.inputTokens + usage.outputTokens >= tokens)

/**
 * Whether an account is exhausted. The balance of a shared account is loaded only if the local copy appears exhausted.
 */
const isSpent = (ledger: Budget.Ledger): Effect.Effect<boolean> => {
  if (!isOver(ledger.limits, ledger.spent())) return Effect.succeed(false)
  const { standing } = ledger as { readonly standing?: unknown }
  return Effect.isEffect(standing)
    ? Effect.match(standing as Effect.Effect<Budget.Standing, unknown>, {
        // If the balance cannot be loaded, the request continues; a run without budget fails later with the reason.
        onFailure: () => false,
        onSuccess: ({ total }) => isOver(ledger.limits, total)
      })
    : Effect.succeed(true)
}

/** Fails if the caller's remaining budget cannot cover any request. */
export const refuse = (caller: Caller, shared: Budget.Ledger | undefined): Effect.Effect<void, ApiError> => {
  const accounts = [...(caller.accounts ?? [caller.ledger]), shared].filter((account) => account !== undefined)
  const seeming = accounts.filter((account) => isOver(account.limits, account.spent()))
  if (seeming.length === 0) return Effect.void
  return Effect.flatMap(Effect.forEach(seeming, isSpent), (spent) =>
    spent.includes(true) ? Effect.fail(refused) : Effect.void
  )
}

/** Rejects a plan whose price does not fit the budget, before its first call (`budget.admit`). */
import * as Effect from "effect/Effect"
import { admissionPrice, refusalByAccounts } from "../../loop/price.ts"
import type { CarryMiddleware, Planned, State } from "../../loop/round.ts"
import { promise } from "../../run/PlanBudget.ts"

/** Whether an earlier process started a step of the plan, which implies that the plan was admitted. */
const wasStarted = ({ context: { recorded } }: State, { ask: { round }, workflow: { steps } }: Planned): boolean =>
  recorded !== undefined && steps.some((_, step) => recorded.without(round, step) !== undefined)

export const admit =
  (state: State): CarryMiddleware =>
  (next) =>
  (planned) =>
    Effect.suspend(() => {
      if (wasStarted(state, planned)) return next(planned)
      const { ask, author, workflow } = planned
      const price = admissionPrice(state, workflow, author, ask.previous)
      const refused = refusalByAccounts(state, price)
      if (refused !== undefined) return Effect.fail(refused)
      const end = promise(state.context.ledger, price.most)
      return Effect.ensuring(next(planned), Effect.sync(end))
    })

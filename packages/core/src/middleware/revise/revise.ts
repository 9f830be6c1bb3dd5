/** Lets the policy decide how a round continues after answers failed their checks and no other step can run. */
import * as Effect from "effect/Effect"
import type { Played, PlayMiddleware, RunError, State } from "../../loop/round.ts"
import type { Results } from "../../loop/scheduler.ts"
import { onDemand } from "../../OnDemand.ts"

const withDecisions = onDemand(() => import("./decide.ts"))

/** Whether to ask the policy now: answers have failed their checks, and no other step of the round can run. */
const mayAsk = ({ held, stopped, waitingFor }: Results): boolean =>
  held.length > 0 && stopped === undefined && waitingFor.length === 0

export const revise =
  (state: State): PlayMiddleware =>
  (next) => {
    const from = (played: Played, index: number): Effect.Effect<Played, RunError> => {
      const { ask, author, execution, workflow } = played
      const results = execution?.results()
      if (execution === undefined || results === undefined || !mayAsk(results)) return Effect.succeed(played)
      const decision = withDecisions(({ decide }) => decide(state, { ...ask, index, author, workflow, results }))
      return Effect.flatMap(decision, (revision) => {
        if (revision?.type !== "go-on") return Effect.succeed({ ...played, revision })
        return Effect.flatMap(execution.goOn, () => from({ ...played, revision }, index + 1))
      })
    }
    return (ask) => Effect.flatMap(next(ask), (played) => from(played, 0))
  }

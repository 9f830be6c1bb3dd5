/** Lets the policy decide how to continue a round after answers have failed their checks and no other step can run. */
import * as Effect from "effect/Effect"
import type { Revision } from "../../loop/proposal.ts"
import type { Played, PlayMiddleware, RunError } from "../../loop/round.ts"
import type { Results } from "../../loop/scheduler.ts"
import type { Revising } from "./decide.ts"

/** Asks the policy how to continue a round. Its code is loaded along with the other middleware required for checks. */
export type Decide = (asked: Revising) => Effect.Effect<Revision | undefined>

/** Whether to consult the policy now: answers have failed their checks, and no other step of the round can run. */
const mayAsk = ({ held, stopped, waitingFor }: Results): boolean =>
  held.length > 0 && stopped === undefined && waitingFor.length === 0

export const revise =
  (decide: Decide): PlayMiddleware =>
  (next) => {
    const from = (played: Played, index: number): Effect.Effect<Played, RunError> => {
      const { ask, author, execution, workflow } = played
      const results = execution?.results()
      if (execution === undefined || results === undefined || !mayAsk(results)) return Effect.succeed(played)
      return Effect.flatMap(decide({ ...ask, index, author, workflow, results }), (revision) => {
        if (revision?.type !== "go-on") return Effect.succeed({ ...played, revision })
        return Effect.flatMap(execution.goOn, () => from({ ...played, revision }, index + 1))
      })
    }
    return (ask) => Effect.flatMap(next(ask), (played) => from(played, 0))
  }

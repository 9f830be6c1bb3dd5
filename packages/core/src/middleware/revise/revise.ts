/** Lets the policy decide how a round continues after answers failed their checks and no other step can run. */
import * as Effect from "effect/Effect"
import type { Revision } from "../../loop/proposal.ts"
import type { Played, PlayMiddleware, RunError } from "../../loop/round.ts"
import type { Results } from "../../loop/scheduler.ts"
import type { Revising } from "./decide.ts"

/** Asks the policy how a round continues. Its code is loaded with the other middleware that checks need. */
export type Decide = (asked: Revising) => Effect.Effect<Revision | undefined>

/** Whether to ask the policy now: answers have failed their checks, and no other step of the round can run. */
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

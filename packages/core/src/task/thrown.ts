/**
 * Converts the cause of a failed call to an error. `thrownError.ts` is loaded when the first third-party error occurs.
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import { onDemand } from "../OnDemand.ts"
import { isA } from "../Thrown.ts"
import { type Worker, WorkerError } from "./Worker.ts"

/** Runs an effect with the module. */
export const withThrown = onDemand(() => import("./thrownError.ts"))

/** Calls `use` with the error of a failed call, or with `undefined` if the call was interrupted. */
export const withErrorOf = <A, E>(
  worker: Worker,
  cause: Cause.Cause<unknown>,
  use: (error: WorkerError | undefined) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined && Cause.hasInterrupts(cause)) return use(undefined)
  const error = failed === undefined ? cause.reasons.find(Cause.isDieReason)?.defect : failed.error
  if (isA(error, WorkerError)) return use(error)
  return withThrown(({ errorOfThrown }) => use(errorOfThrown(worker.id, error)))
}

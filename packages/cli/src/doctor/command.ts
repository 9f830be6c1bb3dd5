/** Defines `divisi doctor` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { toggle } from "../invocation/flags.ts"

const flags = { json: toggle("json", "Print JSON") }

export const doctor = Command.make("doctor", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Doctor.ts")),
    (Doctor) => Doctor.diagnose(input)
  )
).pipe(Command.withDescription("Show which backend runs local models on this machine, why, and what is missing."))

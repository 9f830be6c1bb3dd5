import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type { GrpoMetrics } from "../src/Metrics.ts"
import * as RunFolder from "../src/RunFolder.ts"
import * as Trainer from "../src/Trainer.ts"
import type * as TrainingConfig from "../src/TrainingConfig.ts"
import type { TrainingEvent } from "../src/TrainingEvent.ts"
import { parts } from "./world.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-trainer-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const isGrpo = (metrics: { readonly type: string }): metrics is GrpoMetrics => metrics.type === "grpo"

/** Trains, and gives what came of it. */
export const train = Effect.fnUntraced(function* (
  phases: ReadonlyArray<TrainingConfig.PhaseConfig>,
  given: Partial<Trainer.Parts> = {},
  input: Partial<Trainer.ConfigInput> = {}
) {
  const folder = yield* temporary
  const events: Array<TrainingEvent> = []
  const result = yield* Trainer.start(
    { ...parts(), ...given },
    { phases, ...input },
    { folder, listener: (event) => events.push(event) }
  )
  const metrics = yield* RunFolder.readMetrics(folder)
  return { folder, result, events, metrics, grpo: metrics.filter(isGrpo) }
})

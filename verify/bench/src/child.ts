/**
 * The process of one contender. It prepares one row and then takes a sample each time it is asked, until it has to
 * end; between its samples it is idle while the other contenders have their turn.
 */
import { type ContenderId, load } from "./Contender.ts"
import { prepare } from "./Measure.ts"
import type { RowId, Settings } from "./Row.ts"
import { Unavailable } from "./Unavailable.ts"
import { expected, fiveSteps, immediate } from "./Workload.ts"

export interface Start {
  readonly contender: ContenderId
  readonly row: RowId
  readonly settings: Settings
}

/** What a child says: a sample, or that it is ready, or that its contender has no such thing. */
export type Report =
  | { readonly type: "ready" }
  /** The contender has no such thing; or this machine lacks what it needs, and why. */
  | { readonly type: "absent"; readonly why?: string | undefined }
  | { readonly type: "sample"; readonly value: number }

const report = (message: Report) => process.send!(message)

/** Milliseconds from the first import to the first answer. This process has imported nothing of the contender yet. */
const firstRun = async (id: ContenderId): Promise<number> => {
  const start = performance.now()
  const contender = await load(id)
  const { run } = await contender.prepare(immediate(fiveSteps))
  const answer = await run()
  const millis = performance.now() - start
  if (answer !== expected(fiveSteps)) throw new Error(`The first run answered "${answer}".`)
  return millis
}

// Whoever ends takes its temporary files and its servers along.
process.once("SIGTERM", () => process.exit())

process.once("message", async ({ contender, row, settings }: Start) => {
  try {
    const measurement =
      row === "firstRun" ? () => firstRun(contender) : await prepare(row, await load(contender), settings)
    if (measurement === undefined) return report({ type: "absent" })
    process.on("message", async () => report({ type: "sample", value: await measurement() }))
  } catch (error) {
    if (error instanceof Unavailable) return report({ type: "absent", why: error.message })
    throw error
  }
  return report({ type: "ready" })
})

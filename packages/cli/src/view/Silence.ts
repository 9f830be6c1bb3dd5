/** Reports steps and plans without output for a while, for views that are not redrawn. */
import type { RunEvent, Transcript } from "@divisi/core"
import * as Format from "./Format.ts"
import { oneLine } from "./Line.ts"
import * as Records from "./Records.ts"

/** A silent call is reported after a minute, and again each time the silence has doubled. */
const firstMillis = 60_000

/** A step or plan in progress, identified by a unique key. */
interface UnderWay {
  readonly key: string
  readonly label: string
  readonly who: string
  readonly since: number
}

const underWay = (run: Transcript.Transcript): ReadonlyArray<UnderWay> => {
  const round = run.rounds.at(-1)
  if (run.ending !== undefined || round === undefined) return []
  if (round.workflow === undefined) {
    return [{ key: `${round.round}`, label: "plan", who: oneLine(run.policy), since: round.startedAt }]
  }
  return round.steps.flatMap((step) => {
    const isInTool = step.turns?.at(-1)?.tools.some(({ endedAt }) => endedAt === undefined) === true
    if (step.state !== "running" || step.startedAt === undefined || isInTool) return []
    const key = `${round.round}.${step.step}`
    return [{ key, label: `step ${step.step}`, who: oneLine(Records.planned(step)), since: step.startedAt }]
  })
}

const keyOf = (event: RunEvent.RunEvent): string | undefined => {
  if (!("round" in event)) return undefined
  return "step" in event && event.step !== undefined ? `${event.round}.${event.step}` : `${event.round}`
}

/** Creates a tracker that follows the events of a run. */
export const make = () => {
  const heardAt = new Map<string, number>()
  const reported = new Map<string, number>()
  return {
    /** Records the time of an event. */
    hear: (event: RunEvent.RunEvent): void => {
      const key = keyOf(event)
      if (key === undefined) return
      heardAt.set(key, event.at)
      reported.delete(key)
    },
    /** Returns the calls that have been silent for too long, as pairs of a label and a text. */
    due: (run: Transcript.Transcript, now: number): ReadonlyArray<readonly [label: string, text: string]> =>
      underWay(run).flatMap(({ key, label, since, who }) => {
        const silentMillis = now - Math.max(since, heardAt.get(key) ?? 0)
        const next = reported.get(key) ?? firstMillis
        if (silentMillis < next) return []
        reported.set(key, firstMillis * 2 ** (1 + Math.floor(Math.log2(silentMillis / firstMillis))))
        return [[label, `${who} has sent nothing for ${Format.duration(silentMillis)}`] as const]
      })
  }
}

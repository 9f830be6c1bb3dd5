/** Profiles: workers' measured strengths, taken from an evaluation or from transcripts and shown to policies. */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import path from "node:path"
import type { Transcript } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import { ReportFile, WorkerProfile } from "@divisi/evals"
import * as Effect from "effect/Effect"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as TranscriptFile from "../stores/TranscriptFile.ts"
import * as OfflineGym from "./OfflineGym.ts"

/** Wraps a policy so that it receives worker profiles. */
export interface Profiles {
  /** First six digits of a digest of the profiles. A policy with different profiles counts as a different policy. */
  readonly digest: string
  readonly show: (policy: Policy) => Policy
}

const isReport = (place: string): boolean =>
  path.basename(place) === ReportFile.names.results || existsSync(path.join(place, ReportFile.names.results))

const observations = (
  samples: Effect.Effect<Parameters<typeof WorkerProfile.fromSamples>[0], ReportFile.ReportError>
) =>
  Effect.mapBoth(samples, {
    onFailure: (error) => usage(error.message),
    onSuccess: (all) => WorkerProfile.fromSamples(all)
  })

const isOfGym = ({ task }: Transcript.Transcript): boolean => task.id.startsWith("gym-") && task.reference !== undefined

/**
 * Calculates profiles from transcripts. Only runs in the gym are graded; other runs provide times and prices, but no
 * verdicts.
 */
const ofTranscripts = (folder: string) =>
  Effect.gen(function* () {
    const transcripts = yield* Effect.forEach(yield* TranscriptFile.within(folder), TranscriptFile.read)
    const [inGym, others] = [transcripts.filter(isOfGym), transcripts.filter((one) => !isOfGym(one))]
    const graded = yield* Effect.mapError(
      WorkerProfile.fromTranscripts(inGym, { grader: OfflineGym.grader }),
      (error) => failed(error.message)
    )
    const ungraded = yield* Effect.orDie(WorkerProfile.fromTranscripts(others))
    return [...graded, ...ungraded]
  })

/** Reads profiles from an evaluation's folder, its `results.json`, or a folder of transcripts. */
export const read = (place: string): Effect.Effect<Profiles, Failure> =>
  Effect.gen(function* () {
    const seen = yield* isReport(place) ? observations(ReportFile.readSamples(place)) : ofTranscripts(place)
    const profiles = WorkerProfile.make(seen)
    if (profiles.workers.length === 0)
      return yield* usage(`${place} has no data about workers, because no step was executed.`)
    const lines = profiles.workers.map((profile) => [profile.worker, WorkerProfile.describe(profile)])
    return {
      digest: createHash("sha256").update(JSON.stringify(lines)).digest("hex").slice(0, 6),
      show: (policy: Policy) => WorkerProfile.shown(policy, profiles)
    }
  })

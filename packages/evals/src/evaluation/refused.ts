/** Detects policies whose samples all fail because a vendor rejects the key or the account. */
import type * as Report from "../report/Report.ts"
import type { Entry } from "./Evaluation.ts"

export interface Refused {
  /** Records a sample. A single sample that was not rejected proves that the vendor serves the policy. */
  readonly note: (entry: Entry, sample: Report.Sample) => void
  /** Returns a rejected sample if the policy should not be run again, otherwise `undefined`. */
  readonly find: (entry: Entry) => Report.Sample | undefined
}

/** Number of rejected samples after which a policy is not run again, if none succeeded. */
const maxRefused = 3

/** Whether a vendor rejected the key or the account. */
export const isRejected = ({ missing }: Report.Sample): boolean =>
  missing?.reason === "Authentication" || missing?.reason === "Quota"

export const make = (policies: ReadonlyArray<Entry>): Refused => {
  const refused = new Map<Entry, ReadonlyArray<Report.Sample>>(policies.map((entry) => [entry, []]))
  return {
    note: (entry, sample) => {
      const before = refused.get(entry)
      if (!isRejected(sample)) refused.delete(entry)
      else if (before !== undefined) refused.set(entry, [...before, sample])
    },
    find: (entry) => {
      const samples = refused.get(entry) ?? []
      return samples.length >= maxRefused ? samples[0] : undefined
    }
  }
}

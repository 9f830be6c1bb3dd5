/** Helpers for the records and positions of steps and their items. */
import type { Item } from "./RunEvent.ts"
import type { RoundRecord, StepRecord } from "./Transcript.ts"

/** Formats a step or item as in call addresses and run ids, e.g. `1`, `1[3]`, `1[3.0]`. */
export const placeOf = (step: number, item: Item | undefined): string =>
  item === undefined ? `${step}` : `${step}[${item}]`

/** Parses the step and item from a position. */
export const inPlace = (place: string): { readonly step: number; readonly item: Item | undefined } => {
  const at = place.indexOf("[")
  return at < 0
    ? { step: Number(place), item: undefined }
    : { step: Number(place.slice(0, at)), item: place.slice(at + 1, -1) }
}

/** Returns all step records, each followed by those of its items. */
export const withItems = (steps: ReadonlyArray<StepRecord>): ReadonlyArray<StepRecord> =>
  steps.some(({ items }) => items !== undefined) ? steps.flatMap((step) => [step, ...(step.items ?? [])]) : steps

const byName = new WeakMap<ReadonlyArray<StepRecord>, ReadonlyMap<string, StepRecord>>()

/** Returns the record of a step in a round, or of one of its items. */
export const recordOf = (
  round: RoundRecord | undefined,
  step: number,
  item: Item | undefined
): StepRecord | undefined => {
  const whole = round?.steps[step]
  if (item === undefined) return whole
  if (whole?.items === undefined) return undefined
  const known = byName.get(whole.items) ?? new Map(whole.items.map((one) => [one.item!, one]))
  byName.set(whole.items, known)
  return known.get(item)
}

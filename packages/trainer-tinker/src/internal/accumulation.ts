/**
 * Counts the data in a step, for servers that average over them.
 *
 * **Details**
 *
 * A mean over all data of a step is undone by a factor, which has to be known when the first data are sent. So the
 * number of data is planned: that of the last step, or of the first call. If fewer come, data without effect fill the
 * step up. If more come, a larger number is planned, and earlier data are sent again for the rest of their factor. The
 * gradient is exact either way. Only the second case costs, and only when the calls of a step grow.
 */
import type { Datum, Loss } from "@divisi/trainer/Engine"

/** Data to send, with their factor. */
export interface Call {
  readonly data: ReadonlyArray<Datum>
  readonly loss: Loss
  readonly factor: number
}

/** The data of a step received so far. A plain value: the functions below return the next one. */
export interface Accumulation {
  /** All calls in this step, each with the total factor with which it has been sent. */
  readonly calls: ReadonlyArray<Call>
  /** Number of data counted by the server. */
  readonly counted: number
  readonly planned: number
  /** Number of data in the last step. */
  readonly lastStep: number
}

/** The state before the first step. */
export const initial: Accumulation = { calls: [], counted: 0, planned: 0, lastStep: 0 }

const sizeOf = (calls: ReadonlyArray<Call>) => calls.reduce((sum, { data }) => sum + data.length, 0)

/** Returns the messages for additional data, the new data first, and the next state. */
export const add = (
  before: Accumulation,
  data: ReadonlyArray<Datum>,
  loss: Loss
): { readonly send: ReadonlyArray<Call>; readonly after: Accumulation } => {
  const planned = before.calls.length === 0 ? Math.max(data.length, before.lastStep) : before.planned
  const counted = before.counted + data.length
  if (counted <= planned) {
    const call = { data, loss, factor: planned }
    return { send: [call], after: { ...before, calls: [...before.calls, call], counted, planned } }
  }
  const all = counted + sizeOf(before.calls)
  const larger = 2 * all
  const rest = before.calls.map((call) => ({ ...call, factor: larger - call.factor }))
  const calls = [...before.calls.map((call) => ({ ...call, factor: larger })), { data, loss, factor: larger }]
  return {
    send: [{ data, loss, factor: larger }, ...rest],
    after: { ...before, calls, counted: all, planned: larger }
  }
}

/** Returns the number of planned data that are missing. */
export const missing = ({ counted, planned }: Accumulation): number => planned - counted

/** Returns the state after an optimizer step. */
export const stepped = ({ calls, lastStep }: Accumulation): Accumulation => ({
  ...initial,
  lastStep: sizeOf(calls) || lastStep
})

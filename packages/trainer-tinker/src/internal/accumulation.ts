/**
 * How many data a step has had, for servers that average over them.
 *
 * **Details**
 *
 * A mean over all data of a step is undone by a factor that has to be known when the first of them are sent. So a number
 * is planned: that of the last step, or that of the first call. When a step ends with fewer, data that change nothing fill
 * it up. When more come than were planned, a larger number is, and what was sent before is sent once more for the rest of
 * its factor. The gradient is exact either way; only the latter costs, and only where calls of a step grow.
 */
import type { Datum, Loss } from "@divisi/trainer/Engine"

/** Data to send with a factor. */
export interface Call {
  readonly data: ReadonlyArray<Datum>
  readonly loss: Loss
  readonly factor: number
}

/** What a step has had so far. Plain data; the functions below return the next one. */
export interface Accumulation {
  /** All calls of this step, each with the whole factor that it has been sent with. */
  readonly calls: ReadonlyArray<Call>
  /** Data that the server counts. */
  readonly counted: number
  readonly planned: number
  /** Data of the last step. */
  readonly lastStep: number
}

/** Before the first step. */
export const initial: Accumulation = { calls: [], counted: 0, planned: 0, lastStep: 0 }

const sizeOf = (calls: ReadonlyArray<Call>) => calls.reduce((sum, { data }) => sum + data.length, 0)

/** What to send for more data, the new ones first, and what is so once it is sent. */
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

/** How many data are missing to what was planned. */
export const missing = ({ counted, planned }: Accumulation): number => planned - counted

/** After a step of the optimiser. */
export const stepped = ({ calls, lastStep }: Accumulation): Accumulation => ({
  ...initial,
  lastStep: sizeOf(calls) || lastStep
})

/** Preloaded into a server to give it a different clock. The monotonic clock is unchanged. */
const shift = Number(process.env.CHAOS_CLOCK_MILLIS ?? 0)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...args: ReadonlyArray<never>) {
    if (args.length === 0) super(RealDate.now() + shift)
    else super(...(args as unknown as [number]))
  }

  static override now(): number {
    return RealDate.now() + shift
  }
}

globalThis.Date = ShiftedDate as DateConstructor

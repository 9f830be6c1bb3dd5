import { Seed } from "@divisi/core"

/** Derives five seeds from the date, so that they cannot be selected by hand. */
export const seedsOfDate = (): ReadonlyArray<number> =>
  Array.from({ length: 5 }, (_, index) => Seed.derive(0, new Date().toISOString().slice(0, 10), index))

import { Seed } from "@divisi/core"

/** Five seeds that follow from the date, so that nobody has chosen them. */
export const seedsOfDate = (): ReadonlyArray<number> =>
  Array.from({ length: 5 }, (_, index) => Seed.derive(0, new Date().toISOString().slice(0, 10), index))

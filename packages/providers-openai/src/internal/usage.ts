/** Reads the counts of a usage report. */
import type { Usage } from "@divisi/core/Usage"

/** A reported count, if there is one. */
export const count = (key: keyof Usage, value: unknown): Partial<Usage> =>
  typeof value === "number" && Number.isFinite(value) ? { [key]: value } : {}

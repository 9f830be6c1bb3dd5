/**
 * Limits the number of samples that may be lost to outages before a command fails. An outage counts as neither a wrong
 * answer nor a result.
 */
import type { Sample } from "@divisi/evals/Report"
import * as Flag from "effect/cli/Flag"

export const maxMissing = Flag.Finite("max-missing").pipe(
  Flag.filter(
    (value) => value >= 0 && value <= 1,
    () => "Expected a number from 0 to 1"
  ),
  Flag.withMetavar("<share>"),
  Flag.withDescription(
    "Maximum share of samples missing after worker or grader failures (default 0.05). Above it, the exit code is 1"
  ),
  Flag.withDefault(0.05)
)

/**
 * Returns an error message with the first error if too many samples are missing for a reliable score, or `undefined`.
 */
export const problem = (
  missing: number,
  samples: number,
  allowed: number,
  all: ReadonlyArray<Sample>
): string | undefined => {
  if (missing <= allowed * samples) return undefined
  const share = (100 * missing) / samples
  const first = all.find(({ missing }) => missing !== undefined)?.missing?.message
  const said = first === undefined ? "" : ` First error: ${first}`
  return `${missing} of ${samples} samples (${share.toFixed(share < 10 ? 1 : 0)}%) are missing, more than --max-missing ${allowed} allows.${said}`
}

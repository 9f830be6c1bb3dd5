/** @jsxImportSource preact */
/** Compares a run of several workers with the same question asked of one worker. */
import type { Transcript } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Comparison from "../run/Comparison.ts"
import * as Format from "../run/Format.ts"
import { readRun } from "./Follow.ts"
import { Money } from "./Parts.tsx"
import { href } from "./Router.ts"
import { runs } from "./RunList.ts"
import { exportedAlone } from "./Source.ts"
import { canSteer } from "./Steering.ts"

/** Renders the cost and time of one worker, or a link that asks one. Empty for runs of one worker. */
export const Alone = ({ transcript }: { readonly transcript: Transcript.Transcript }) => {
  const { runId } = transcript
  const last = Comparison.workersOf(transcript).at(-1)
  const listed = Comparison.aloneOf(transcript, [...(runs.value ?? []), ...exportedAlone()])
  /** Id of the listed run whose whole question was found to be the same. */
  const same = useSignal("")
  useEffect(() => {
    const abort = new AbortController()
    if (listed !== undefined && !Comparison.isCertain(transcript, listed))
      readRun(listed.id, abort.signal).then(
        (run) => {
          if (run.transcript && Comparison.questionOf(run.transcript) === Comparison.questionOf(transcript))
            same.value = listed.id
        },
        () => {}
      )
    return () => abort.abort()
  }, [listed?.id])
  if (last === undefined || Comparison.workersOf(transcript).length === 1) return null
  const isSame = listed !== undefined && (Comparison.isCertain(transcript, listed) || same.value === listed.id)
  const alone = isSame ? listed : undefined
  if (alone === undefined)
    return canSteer() ? (
      <p class="alone dim">
        No worker has answered this question alone.{" "}
        <a class="link" href={href(["playground"], { run: runId, model: `worker/${last}` })}>
          Ask one
        </a>
      </p>
    ) : null
  const { costUsd, millis } = Comparison.figuresOf(transcript)
  const time = alone.changed_at - alone.started_at
  // A sum without the calls of unknown price allows no ratio.
  const cost = alone.is_unpriced === true ? undefined : alone.cost_usd
  const ratios = [
    ...(costUsd !== undefined && cost !== undefined && cost > 0 ? [`cost ${Format.ratio(costUsd / cost)}`] : []),
    ...(time > 0 ? [`took ${Format.ratio(millis / time)}`] : [])
  ]
  return (
    <p class="alone">
      <span class="tag">One worker</span> {Format.oneLine(alone.workers[0]!, 60)} alone:{" "}
      <Money usd={alone.cost_usd} isPartial={alone.is_unpriced === true} /> and <b>{Format.duration(time)}</b>.
      {ratios.length > 0 && (
        <span class="dim">
          {" "}
          This {transcript.forkOf === undefined ? "plan" : "fork"} {ratios.join(" and ")}.
        </span>
      )}{" "}
      {runs.value?.includes(alone) === true && (
        <a class="link" href={href(["compare"], { a: runId, b: alone.id })}>
          Compare
        </a>
      )}
    </p>
  )
}

/** @jsxImportSource preact */
/**
 * Forest plots as tables, with one interval per row on a common scale: accuracy, and differences from the first policy.
 */
import * as EvaluationTables from "@divisi/report/EvaluationTables"
import type { Cell, Report } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { type Column, Head, Money } from "../Parts.tsx"
import { setQuery } from "../Router.ts"
import { Figures, known } from "../Sheet.tsx"

const at = (share: number): string => `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`

const Grid = ({ marks, zero }: { readonly marks: ReadonlyArray<number>; readonly zero?: number }) => (
  <>
    {marks.map((mark) => (
      <line key={mark} class={mark === zero ? "zero-line" : "grid-line"} x1={at(mark)} x2={at(mark)} y1="0" y2="24" />
    ))}
  </>
)

/** A column of intervals, with the scale in its header. */
const interval = (labels: ReadonlyArray<readonly [number, string]>): Column => [
  <>
    <span class="unseen">Interval</span>
    <svg class="strip-svg" width="100%" height="16" aria-hidden="true">
      {labels.map(([share, text]) => (
        <text key={text} class="tick" x={at(share)} y="12" text-anchor="middle">
          {text}
        </text>
      ))}
    </svg>
  </>,
  "strip"
]

const quarters = [0, 0.25, 0.5, 0.75, 1]

/** Renders the accuracy of each policy, highest first, and one row for all but the best single workers. */
export const Accuracy = ({
  cells,
  isPlay,
  report,
  selected
}: {
  readonly report: Report
  readonly cells: ReadonlyArray<Cell>
  readonly selected: string
  readonly isPlay: boolean
}) => {
  const isBaseline = (name: string) => report.config.policies.find((one) => one.name === name)?.isBaseline === true
  const hasMissing = cells.some(({ score }) => score.missing > 0)
  const { rest, shown } = Listing.grouped(report, cells)
  return (
    <section class="card" aria-label="Accuracy">
      <header>
        <h2>Accuracy</h2>
        <span class="dim">%, with {Math.round(100 * report.config.confidence)} % intervals</span>
        <span class="grow" />
        <span class="legend" aria-hidden="true">
          <span>
            <i class="point-key" /> policy
          </span>
          <span>
            <i class="point-key ring" /> baseline
          </span>
        </span>
      </header>
      <div class="body" role="group" aria-label="Accuracy, scrollable" tabIndex={0}>
        <table class="table forest">
          <caption class="unseen">Accuracy, cost, tokens and time of each policy</caption>
          <Head
            columns={[
              "Policy",
              interval(quarters.map((share) => [share, `${100 * share}`])),
              ["Accuracy", "right"],
              ...(hasMissing ? [["Missing", "right"] as const] : []),
              ["Cost a question", "right"],
              ["Tokens", "right"],
              ["Median time", "right"]
            ]}
          />
          <tbody>
            {shown.map((cell) => {
              const { costUsd, inputTokens, millis, outputTokens, policy, score, unpricedCalls } = cell
              const tokens = (inputTokens.mean ?? 0) + (outputTokens.mean ?? 0)
              const kind = policy === selected ? "own" : isBaseline(policy) ? "ring" : ""
              return (
                <tr key={policy} class={policy === selected ? "chosen" : ""}>
                  <th scope="row">
                    <button
                      type="button"
                      class="plain"
                      aria-pressed={policy === selected}
                      onClick={() => setQuery({ policy })}
                    >
                      {Format.oneLine(policy, 40)}
                    </button>
                  </th>
                  <td class="strip">
                    <svg class="strip-svg" width="100%" height="24" aria-hidden="true">
                      <Grid marks={quarters} />
                      {score.low !== null && score.high !== null && (
                        <line class={`whisker ${kind}`} x1={at(score.low)} x2={at(score.high)} y1="12" y2="12" />
                      )}
                      {score.mean !== null && <circle class={`point ${kind}`} cx={at(score.mean)} cy="12" r="4.5" />}
                    </svg>
                    <span class="unseen">
                      {score.low === null || score.high === null
                        ? "no interval"
                        : `${Format.share(score.low)} to ${Format.share(score.high)}`}
                    </span>
                  </td>
                  <td class="right strong">
                    {score.mean === null ? "unknown" : Format.share(score.mean)}
                    {EvaluationTables.coverage(report, [cell])}
                  </td>
                  {hasMissing && <td class="right">{score.missing === 0 ? "" : Format.whole(score.missing)}</td>}
                  <td class="right">
                    <Money
                      usd={unpricedCalls > 0 && costUsd.total === 0 ? undefined : (costUsd.mean ?? undefined)}
                      isPlay={isPlay}
                    />
                  </td>
                  <td class="right">{Format.whole(Math.round(tokens))}</td>
                  <td class="right">{typeof millis.median === "number" ? Format.duration(millis.median) : ""}</td>
                </tr>
              )
            })}
            {rest && (
              <tr>
                <th scope="row">{rest.name}</th>
                <td class="dim">listed under All figures</td>
                <td class="right strong">{rest.range}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const pText = (p: number | null | undefined): string =>
  typeof p !== "number" ? "" : p < 0.001 ? "< 0.001" : p.toFixed(3)

const signed = (difference: number): string =>
  `${difference < 0 ? "\u2212" : difference > 0 ? "+" : ""}${Math.abs(100 * difference).toFixed(1)}`

/**
 * Renders the difference between the first policy and each other policy, on the same questions. Single workers that
 * share a row in the accuracy chart are only in the table.
 */
export const Differences = ({ benchmark, report }: { readonly report: Report; readonly benchmark: string }) => {
  const all = report.comparisons.filter((one) => one.benchmark === benchmark)
  const folded = EvaluationTables.folded(report)
  const rows = all.filter(({ against }) => !folded.includes(against))
  const [reference] = report.config.policies
  const ends = rows.flatMap(({ high, low, mean }) => [low ?? mean ?? 0, high ?? mean ?? 0])
  const step = 0.25
  const from = Math.floor(Math.min(0, ...ends.map((end) => end ?? 0)) / step) * step
  const to = Math.ceil(Math.max(step, ...ends.map((end) => end ?? 0)) / step) * step
  const share = (difference: number) => (difference - from) / (to - from)
  const marks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => from + index * step)
  return (
    <section class="card" aria-label="Paired differences">
      <header>
        <h2>{Format.oneLine(reference?.name ?? "", 40)} minus each other policy</h2>
        <span class="dim">same questions, percentage points</span>
        <span class="grow" />
        <span class="legend" aria-hidden="true">
          <span class="tone-answered">▶ better</span>
          <span>○ no difference shown</span>
          <span class="tone-failed">◀ worse</span>
        </span>
      </header>
      <div class="body" role="group" aria-label="Paired differences, scrollable" tabIndex={0}>
        {rows.length === 0 ? (
          <p class="dim">There is no other policy to compare with.</p>
        ) : (
          <table class="table forest">
            <caption class="unseen">Paired differences</caption>
            <Head
              columns={[
                "Policy",
                interval(
                  marks
                    .filter((mark) => to - from < 1 || Number.isInteger(2 * mark))
                    .map((mark) => [share(mark), signed(mark).replace(/\.0$/, "")])
                ),
                ["Points", "right"],
                ["p (Holm)", "right"],
                ["Better / worse / same", "right"]
              ]}
            />
            <tbody>
              {rows.map(({ against, better, high = null, low = null, mean = null, pAdjusted, same, worse }) => {
                const verdict =
                  low === null || high === null ? "same" : low > 0 ? "better" : high < 0 ? "worse" : "same"
                return (
                  <tr key={against}>
                    <th scope="row">{Format.oneLine(against, 40)}</th>
                    <td class="strip">
                      <svg class="strip-svg" width="100%" height="24" aria-hidden="true">
                        <Grid marks={marks.map(share)} zero={share(0)} />
                        {low !== null && high !== null && (
                          <line
                            class={`whisker is-${verdict}`}
                            x1={at(share(low))}
                            x2={at(share(high))}
                            y1="12"
                            y2="12"
                          />
                        )}
                        {mean !== null &&
                          (verdict === "same" ? (
                            <circle class="point ring" cx={at(share(mean))} cy="12" r="4.5" />
                          ) : (
                            <svg x={at(share(mean))} y="12" overflow="visible">
                              <path
                                class={`arrow is-${verdict}`}
                                d={verdict === "better" ? "M-4-5L6 0-4 5z" : "M4-5L-6 0 4 5z"}
                              />
                            </svg>
                          ))}
                      </svg>
                      <span class="unseen">
                        {verdict === "same" ? "no difference shown" : verdict}
                        {low !== null && high !== null && `, ${signed(low)} to ${signed(high)}`}
                      </span>
                    </td>
                    <td class="right strong">{mean === null ? "unknown" : signed(mean)}</td>
                    <td class="right">{pText(pAdjusted)}</td>
                    <td class="right">
                      {better} / {worse} / {same}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
        {rows.length > 0 && (
          <details>
            <summary>As table</summary>
            <Figures
              caption="Paired differences, in points"
              items={all}
              columns={[
                ["Policy", ({ against }) => Format.oneLine(against, 60)],
                ["Interval", ({ high, low }) => `${known(low, signed)} to ${known(high, signed)}`],
                ["p", ({ p }) => pText(p)],
                ["Detectable", ({ minimumDetectable }) => known(minimumDetectable, (one) => (100 * one).toFixed(1))]
              ]}
            />
          </details>
        )}
      </div>
    </section>
  )
}

/** @jsxImportSource preact */
/**
 * The page for an evaluation: main result, accuracy with intervals, cost, differences, verdicts, kinds of questions,
 * and samples.
 */
import * as EvaluationTables from "@divisi/report/EvaluationTables"
import type { Cell, Opened, Report } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { useData } from "../Data.ts"
import { State } from "../Icons.tsx"
import { Failed, Money, Skeleton } from "../Parts.tsx"
import { href, place, setQuery } from "../Router.ts"
import { Card } from "../Sheet.tsx"
import { CostChart } from "./CostChart.tsx"
import { AllFigures, Compositions, Overall, Setting, Strengths } from "./Details.tsx"
import { Accuracy, Differences } from "./Forest.tsx"
import { Samples } from "./Samples.tsx"

const verdictWords = {
  "worth-it": { state: "answered", word: "Worth it" },
  "not-worth-it": { state: "failed", word: "Not worth it" },
  undecided: { state: "unconfirmed", word: "Undecided" }
} as const

const Verdicts = ({ benchmark, report }: { readonly report: Report; readonly benchmark: string }) => {
  const verdicts = (report.equalBudget ?? []).filter((one) => one.benchmark === benchmark)
  return (
    <Card title="At equal tokens" note="compared with the best worker's answers for the same number of output tokens">
      {verdicts.length === 0 ? (
        <p class="dim">
          No worker was measured alone. Add <code>--baselines single</code> for this verdict.
        </p>
      ) : (
        <ul class="verdicts">
          {verdicts.map((one) => (
            <li key={one.policy}>
              <State {...verdictWords[one.verdict]} />
              <span>
                {Format.visible(EvaluationTables.verdicts({ ...report, equalBudget: [one] })[0] ?? one.policy)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

const Kinds = ({ cells }: { readonly cells: ReadonlyArray<Cell> }) => {
  const strata = [...new Set(cells.flatMap(({ strata = [] }) => strata.map(({ stratum }) => stratum)))].sort()
  if (strata.length < 2) return null
  return (
    <Card title="By kind of question" note="accuracy, %">
      <table class="table heat">
        <caption class="unseen">Accuracy of each policy by kind of question, in percent</caption>
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {strata.map((stratum) => (
              <th key={stratum} scope="col" class="turned">
                <span>{Format.oneLine(stratum, 24)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => (
            <tr key={cell.policy}>
              <th scope="row">{Format.oneLine(cell.policy, 40)}</th>
              {strata.map((stratum) => {
                const mean = cell.strata?.find((one) => one.stratum === stratum)?.mean ?? null
                return (
                  <td key={stratum} class={mean === null ? "" : `heat-${Math.min(5, Math.floor(mean * 5.999))}`}>
                    {mean === null ? "" : Math.round(100 * mean)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

const View = ({ opened }: { readonly opened: Opened }) => {
  const { id, report } = opened
  const { benchmarks, config, extent } = report
  const { query } = place.value
  const benchmark = benchmarks.find((one) => one.benchmark === query.get("benchmark")) ?? benchmarks[0]
  if (benchmark === undefined) return <Failed error={new Error("This evaluation has no benchmark.")} />
  const cells = report.cells
    .filter((cell) => cell.benchmark === benchmark.benchmark)
    .sort((one, other) => (other.score.mean ?? -1) - (one.score.mean ?? -1))
  const finding = Listing.findingOf(report, benchmark.benchmark)
  const isPlay = EvaluationTables.isPlay(report)
  const selected = config.policies.some(({ name }) => name === query.get("policy"))
    ? query.get("policy")!
    : (config.policies[0]?.name ?? "")
  return (
    <div>
      <header class="bar">
        <span class="crumb">
          <a href={href(["evaluations"])}>Evaluations</a> /
        </span>
        <b class="clip">{Format.oneLine(id, 60)}</b>
        {extent.status === "complete" ? (
          <State state="answered" word="Complete" />
        ) : (
          <State
            state="stopped"
            word={`Stopped after ${Format.whole(extent.samples)} of ${Format.whole(extent.planned)}`}
          />
        )}
        <span class="grow" />
        <span class="dim wide-only">
          {Format.whole(extent.samples)} samples · {Format.counted(config.epochs, "epoch")} · seed {config.seed} ·{" "}
          <Money usd={extent.paidUsd} isPlay={isPlay} />
        </span>
      </header>
      <div class="sheet">
        <div class="lede">
          <h1>{Format.visible(finding.title)}</h1>
          <p>{Format.visible(finding.detail)}</p>
          {EvaluationTables.failures(report).map((sentence) => (
            <p key={sentence} class="dim">
              {Format.visible(sentence)}.
            </p>
          ))}
          {benchmarks.length > 1 && (
            <div class="tabs" role="group" aria-label="Benchmark">
              {benchmarks.map((one) => (
                <button
                  key={one.benchmark}
                  type="button"
                  class={`chip ${one === benchmark ? "on" : ""}`}
                  aria-pressed={one === benchmark}
                  onClick={() => setQuery({ benchmark: one.benchmark, task: undefined })}
                >
                  {Format.oneLine(one.title, 40)} {Format.whole(one.selected)}
                </button>
              ))}
            </div>
          )}
        </div>
        <div class="columns wide-left">
          <div class="stack">
            <Accuracy report={report} cells={cells} selected={selected} isPlay={isPlay} />
            <Differences report={report} benchmark={benchmark.benchmark} />
          </div>
          <div class="stack">
            <CostChart cells={cells} report={report} selected={selected} isPlay={isPlay} />
            <Verdicts report={report} benchmark={benchmark.benchmark} />
            <Kinds cells={cells} />
          </div>
        </div>
        {opened.problem === undefined ? (
          <Samples key={benchmark.benchmark} opened={opened} benchmark={benchmark.benchmark} isPlay={isPlay} />
        ) : (
          <p class="notice bad" role="alert">
            The answers to the questions cannot be shown. {Format.visible(opened.problem)}
          </p>
        )}
        <Compositions cells={cells} />
        {benchmarks.length > 1 && <Overall report={report} isPlay={isPlay} />}
        <AllFigures cells={cells} />
        <Strengths profiles={opened.profiles} isPlay={isPlay} />
        <Setting report={report} isPlay={isPlay} />
      </div>
    </div>
  )
}

/** Renders an evaluation. */
export const EvaluationPage = ({ id }: { readonly id: string }) => {
  const { error, retry, value } = useData<Opened>(Listing.pathOf(id))
  if (value !== undefined) return <View opened={value} />
  return error === undefined ? <Skeleton rows={12} /> : <Failed error={error} retry={retry} />
}

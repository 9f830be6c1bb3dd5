/** @jsxImportSource preact */
/** The list of evaluations of a folder. */
import type { Line } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { useData } from "../Data.ts"
import { State } from "../Icons.tsx"
import { Empty, Failed, Money, Skeleton } from "../Parts.tsx"
import { href } from "../Router.ts"
import { EvaluationPage } from "./Evaluation.tsx"

const Row = ({ line, now }: { readonly line: Line; readonly now: number }) => (
  <tr>
    <th scope="row">
      <a class="link" href={href(["evaluations", line.id])}>
        {Format.oneLine(line.id, 60)}
      </a>
    </th>
    <td class="wide wide-only">
      {line.damaged === undefined ? Format.oneLine(line.title, 90) : Format.oneLine(line.damaged, 160)}
    </td>
    <td>
      {line.damaged !== undefined ? (
        <State state="damaged" />
      ) : line.isComplete ? (
        <State state="answered" word="Complete" />
      ) : (
        <State state="stopped" />
      )}
    </td>
    <td>{line.best === null ? "" : `${Format.oneLine(line.best.policy, 40)}, ${Format.share(line.best.mean)}`}</td>
    <td class="right wide-only">{Format.whole(line.policies)}</td>
    <td class="right wide-only">
      {Format.whole(line.samples)}
      {line.samples < line.planned && ` of ${Format.whole(line.planned)}`}
    </td>
    <td class="right">
      <Money usd={line.cost_usd} isPlay={line.is_play} />
    </td>
    <td class="right wide-only">{Format.when(line.changed_at, now)}</td>
  </tr>
)

/** Shows the list. */
const List = () => {
  const { error, retry, value } = useData<{ readonly data: ReadonlyArray<Line> }>(Listing.path)
  const lines = value?.data
  return (
    <div class="page-list">
      <header class="bar">
        <h1>Evaluations</h1>
        {lines !== undefined && <span class="dim">{Format.whole(lines.length)} in all</span>}
      </header>
      {lines === undefined ? (
        error === undefined ? (
          <Skeleton rows={6} />
        ) : (
          <Failed error={error} retry={retry} />
        )
      ) : lines.length === 0 ? (
        <Empty title="No evaluation in this folder">
          <p>Measure policies on the same questions, then open the folder:</p>
          <code class="command">divisi eval --policy lexical --baselines single,moa --out evaluation</code>
        </Empty>
      ) : (
        <div class="list-holder" role="group" aria-label="Evaluations, scrollable" tabIndex={0}>
          <table class="table">
            <caption class="unseen">Evaluations</caption>
            <thead>
              <tr>
                <th scope="col">Folder</th>
                <th scope="col" class="wide-only">
                  Questions
                </th>
                <th scope="col">State</th>
                <th scope="col">Most accurate</th>
                <th scope="col" class="right wide-only">
                  Policies
                </th>
                <th scope="col" class="right wide-only">
                  Samples
                </th>
                <th scope="col" class="right">
                  Paid
                </th>
                <th scope="col" class="right wide-only">
                  Changed
                </th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <Row key={line.id} line={line} now={Date.now()} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}

/** Shows the list, or one evaluation. */
export const EvaluationsPage = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? <List /> : <EvaluationPage key={id} id={id} />

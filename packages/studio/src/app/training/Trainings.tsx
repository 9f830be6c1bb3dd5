/** @jsxImportSource preact */
/** The list of trainings of a folder. */
import * as Format from "../../run/Format.ts"
import type { Line } from "../../training/Listing.ts"
import * as Listing from "../../training/Listing.ts"
import { useData } from "../Data.ts"
import { State } from "../Icons.tsx"
import { Empty, Failed, Money, Skeleton } from "../Parts.tsx"
import { href } from "../Router.ts"
import { TrainingPage } from "./Training.tsx"

const Row = ({ line, now }: { readonly line: Line; readonly now: number }) => (
  <tr>
    <th scope="row">
      <a class="link" href={href(["training", line.id])}>
        {Format.oneLine(line.id, 60)}
      </a>
    </th>
    <td class="wide wide-only">
      {line.damaged === undefined
        ? `${Format.oneLine(line.name, 40)}, ${Format.oneLine(line.engine, 60)}`
        : Format.oneLine(line.damaged, 160)}
    </td>
    <td>
      {line.damaged !== undefined ? (
        <State state="damaged" />
      ) : line.iterations >= line.planned ? (
        <State state="answered" word="Finished" />
      ) : (
        <State state="budget" word={`${Format.whole(line.iterations)} of ${Format.whole(line.planned)}`} />
      )}
    </td>
    <td class="right">{line.reward === null ? "" : line.reward.toFixed(2)}</td>
    <td class="right">{line.correct === null ? "" : Format.share(line.correct)}</td>
    <td class="right wide-only">{Format.whole(line.iterations)}</td>
    <td class="right">
      <Money usd={line.cost_usd} isPlay={line.is_play} />
    </td>
    <td class="right wide-only">{Format.when(line.changed_at, now)}</td>
  </tr>
)

const List = () => {
  const { error, retry, value } = useData<{ readonly data: ReadonlyArray<Line> }>(Listing.path, 5_000)
  const lines = value?.data
  return (
    <div class="page-list">
      <header class="bar">
        <h1>Training</h1>
        {lines !== undefined && <span class="dim">{Format.whole(lines.length)} in all</span>}
      </header>
      {lines === undefined ? (
        error === undefined ? (
          <Skeleton rows={6} />
        ) : (
          <Failed error={error} retry={retry} />
        )
      ) : lines.length === 0 ? (
        <Empty title="No training in this folder">
          <p>Train a Conductor, then open the folder of its runs:</p>
          <code class="command">divisi train --recipe toy --out runs/toy</code>
        </Empty>
      ) : (
        <div class="list-holder" role="group" aria-label="Trainings, scrollable" tabIndex={0}>
          <table class="table">
            <caption class="unseen">Trainings</caption>
            <thead>
              <tr>
                <th scope="col">Folder</th>
                <th scope="col" class="wide-only">
                  Recipe and engine
                </th>
                <th scope="col">State</th>
                <th scope="col" class="right">
                  Reward
                </th>
                <th scope="col" class="right">
                  Accuracy
                </th>
                <th scope="col" class="right wide-only">
                  Iterations
                </th>
                <th scope="col" class="right">
                  Cost
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

/** Shows the list, or one training. */
export const TrainingsPage = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? <List /> : <TrainingPage key={id} id={id} />

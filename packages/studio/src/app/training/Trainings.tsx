/** @jsxImportSource preact */
/** The list of training runs in a folder. */
import * as Format from "../../run/Format.ts"
import type { Line } from "../../training/Listing.ts"
import * as Listing from "../../training/Listing.ts"
import { FolderList } from "../FolderList.tsx"
import { State } from "../Icons.tsx"
import { Empty, Money } from "../Parts.tsx"
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

const List = () => (
  <FolderList<Line>
    title="Training"
    label="Trainings"
    path={Listing.path}
    everyMillis={5_000}
    columns={[
      "Folder",
      ["Recipe and engine", "wide-only"],
      "State",
      ["Reward", "right"],
      ["Accuracy", "right"],
      ["Iterations", "right wide-only"],
      ["Cost", "right"],
      ["Changed", "right wide-only"]
    ]}
    row={(line, now) => <Row key={line.id} line={line} now={now} />}
    empty={
      <Empty title="No training in this folder">
        <p>Train a Conductor, then open the folder of its runs:</p>
        <code class="command">divisi train --recipe toy --out runs/toy</code>
      </Empty>
    }
  />
)

/** Renders the list, or a single training run. */
export const TrainingsPage = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? <List /> : <TrainingPage key={id} id={id} />

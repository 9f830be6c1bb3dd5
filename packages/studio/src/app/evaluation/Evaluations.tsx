/** @jsxImportSource preact */
/** The list of evaluations in a folder. */
import type { Line } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { FolderList } from "../FolderList.tsx"
import { State } from "../Icons.tsx"
import { Empty, Money } from "../Parts.tsx"
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

/** Renders the list. */
const List = () => (
  <FolderList<Line>
    title="Evaluations"
    label="Evaluations"
    path={Listing.path}
    columns={[
      "Folder",
      ["Questions", "wide-only"],
      "State",
      "Most accurate",
      ["Policies", "right wide-only"],
      ["Samples", "right wide-only"],
      ["Paid", "right"],
      ["Changed", "right wide-only"]
    ]}
    row={(line, now) => <Row key={line.id} line={line} now={now} />}
    empty={
      <Empty title="No evaluation in this folder">
        <p>Measure policies on the same questions, then open the folder:</p>
        <code class="command">divisi eval --policy lexical --baselines single,moa --out evaluation</code>
      </Empty>
    }
  />
)

/** Renders the list, or a single evaluation. */
export const EvaluationsPage = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? <List /> : <EvaluationPage key={id} id={id} />

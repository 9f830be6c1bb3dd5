/** @jsxImportSource preact */
/**
 * A table of a run's steps. It contains the same data as the plan and the waterfall, and is available to screen
 * readers.
 */
import { RunEvent, type Transcript } from "@divisi/core"
import * as Format from "../run/Format.ts"
import type { Waterfall } from "../run/Waterfall.ts"
import { State } from "./Icons.tsx"
import { Head, Money } from "./Parts.tsx"
import { costOf, stateOfStep, tokensOf } from "./Steps.ts"

interface Props {
  readonly transcript: Transcript.Transcript
  readonly waterfall: Waterfall
  readonly onSelect: (round: number, step: number) => void
  readonly isHidden: boolean
}

/** Renders the table. A hidden table is still available to screen readers. */
export const StepTable = ({ isHidden, onSelect, transcript, waterfall }: Props) => (
  <div class={isHidden ? "unseen" : "table-holder"}>
    <table class="table">
      <caption class="unseen">Steps of the run</caption>
      <Head
        columns={[
          "Step",
          "Worker",
          "State",
          "Sees",
          "Subtask",
          ["Started", "right"],
          ["Time", "right"],
          ["Tokens", "right"],
          ["Cost", "right"],
          "Critical path"
        ]}
      />
      <tbody>
        {waterfall.rows.map(({ from, isCritical, isReused, record, round, step, to }) => {
          const planned = transcript.rounds[round]?.workflow?.steps[step]
          const { inputTokens, outputTokens } = tokensOf(record)
          const access = planned?.access ?? []
          return (
            <tr key={`${round}.${step}`}>
              <th scope="row">
                <button type="button" class="link" tabIndex={isHidden ? -1 : 0} onClick={() => onSelect(round, step)}>
                  {transcript.rounds.length > 1 ? `${round}.${step}` : step}
                </button>
              </th>
              <td>{RunEvent.authorOf(record)}</td>
              <td>
                <State state={stateOfStep(record)} />
              </td>
              <td>{access === "all" ? "all before it" : access.length === 0 ? "the question" : access.join(", ")}</td>
              <td class="wide">
                {planned?.subtask === "" ? "The question" : Format.oneLine(planned?.subtask ?? "", 160)}
              </td>
              <td class="right">{from === undefined ? "" : `+${Format.duration(from)}`}</td>
              <td class="right">
                {from === undefined || to === undefined || isReused ? "" : Format.duration(to - from)}
              </td>
              <td class="right">{inputTokens + outputTokens === 0 ? "" : Format.whole(inputTokens + outputTokens)}</td>
              <td class="right">{isReused ? "not paid again" : <Money usd={costOf(record)} />}</td>
              <td>{isCritical ? "yes" : "no"}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)

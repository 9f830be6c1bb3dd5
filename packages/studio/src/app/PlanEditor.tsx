/** @jsxImportSource preact */
/** An editor for the text of a plan, with line numbers and inline error messages. */
import type { Transcript } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import * as Format from "../run/Format.ts"
import * as PlanText from "./planText.ts"

interface Props {
  readonly transcript: Transcript.Transcript
  readonly round: number
  /** Error message from the server that rejected the plan. */
  readonly refusal: string
}

/** Renders a plan in a text area named `plan`. The text is validated as it is edited. */
export const PlanEditor = ({ refusal, round, transcript }: Props) => {
  const workflow = transcript.rounds[round]?.workflow ?? { steps: [] }
  const text = useSignal(PlanText.write(workflow))
  // A rejection applies only to the text that was sent.
  const edited = useSignal(false)
  const problem =
    PlanText.problemOf(text.value, transcript, round) ?? (edited.value ? undefined : PlanText.problemIn(refusal))
  const lines = text.value.split("\n")
  useLayoutEffect(() => {
    edited.value = false
  }, [refusal])
  return (
    <div class="plan-editor">
      <label for="plan-text">Plan</label>
      <div class="plan-lines">
        <ol aria-hidden="true">
          {lines.map((_, index) => (
            <li key={index} class={problem?.line === index + 1 ? "bad" : ""}>
              {index + 1}
            </li>
          ))}
        </ol>
        <textarea
          id="plan-text"
          name="plan"
          class="mono"
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          rows={lines.length}
          value={text.value}
          aria-invalid={problem !== undefined}
          aria-describedby="plan-problem plan-workers"
          onInput={(event) => {
            text.value = event.currentTarget.value
            edited.value = true
          }}
        />
      </div>
      <p id="plan-problem" class={problem === undefined ? "dim" : "tone-failed"} role="status">
        {problem === undefined ? "This plan can be read." : Format.visible(problem.message)}
      </p>
      <ul id="plan-workers" class="plan-workers" aria-label="Workers by number">
        {transcript.pool.map(({ id }, index) => (
          <li key={id}>
            <b>{index}</b> {Format.oneLine(id, 60)}
          </li>
        ))}
      </ul>
    </div>
  )
}

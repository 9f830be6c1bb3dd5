/** @jsxImportSource preact */
/** An editor for the text of a plan, with line numbers and inline error messages. */
import type { Transcript } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect } from "preact/hooks"
import * as Format from "../run/Format.ts"
import * as PlanText from "./planText.ts"
import { canSteer, type PlanPrice, priceOf } from "./Steering.ts"

/** Delay after an edit before the plan's price is requested, in milliseconds. */
const priceMillis = 300

/** Shows the price of a plan for a round shortly after each edit, or the reason why it is unknown. */
const Price = ({
  note,
  plan,
  round,
  run
}: {
  readonly run: string
  readonly plan: string
  readonly round: number
  readonly note: string
}) => {
  const found = useSignal<PlanPrice | string | undefined>(undefined)
  useEffect(() => {
    let isOld = false
    const timer = setTimeout(async () => {
      const price = await priceOf(run, plan, round).catch(({ message }: Error) => message)
      if (!isOld) found.value = price
    }, priceMillis)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [plan, run, round])
  const { value: price } = found
  if (price === undefined) return null
  if (typeof price === "string") return <p class="dim">No price: {Format.visible(price)}</p>
  const text = (name: "least" | "likely" | "most") => Format.money(price[name].cost_usd ?? undefined)
  return (
    <p role="status">
      Price: at least {text("least")}, likely <b>{text("likely")}</b>, at most <b>{text("most")}</b>
      <span class="dim">
        {" "}
        · {Format.whole(price.least.calls)} to {Format.whole(price.most.calls)} calls. {note}
      </span>
    </p>
  )
}

interface Props {
  readonly transcript: Transcript.Transcript
  readonly round: number
  /** Describes what the plan's price includes. */
  readonly note: string
  /** Error message from the server that rejected the plan. */
  readonly refusal: string
}

/** Renders a plan in a text area named `plan`. The text is validated as it is edited. */
export const PlanEditor = ({ note, refusal, round, transcript }: Props) => {
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
      {problem === undefined && canSteer() && transcript.parent === undefined && (
        <Price run={transcript.runId} plan={text.value} round={round} note={note} />
      )}
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

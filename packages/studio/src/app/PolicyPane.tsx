/** @jsxImportSource preact */
/** The policy's part of a round: the conversation that it was shown, the texts that it wrote, and the plan that was read. */
import { Message, type Transcript } from "@divisi/core"
import * as Format from "../run/Format.ts"
import { State } from "./Icons.tsx"
import { Money, Text } from "./Parts.tsx"

/** Shows how a round was planned. */
export const PolicyPane = ({
  transcript,
  round
}: {
  readonly transcript: Transcript.Transcript
  readonly round: Transcript.RoundRecord
}) => {
  const { completions, notes, planningMillis, policy, probability, revisions = [], workflow } = round
  return (
    <section class="step-body" aria-label="Policy">
      <section>
        <h3>Shown to the policy</h3>
        <p class="dim">The conversation, and the pool of {transcript.pool.length} workers by ordinal.</p>
        <ol class="messages">
          {transcript.task.messages.map((message, index) => (
            <li key={index} class="message">
              <div class="from">{message.role}</div>
              <Text text={Message.text(message)} kind="message-text" />
            </li>
          ))}
          {transcript.pool.map(({ description, id }, index) => (
            <li key={id} class="message">
              <div class="from">Worker {index}</div>
              <div>
                <b>{Format.visible(id)}</b>{" "}
                {description !== undefined && <span class="dim">{Format.oneLine(description)}</span>}
              </div>
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h3>
          Written by {policy ?? transcript.policy}
          {planningMillis !== undefined && <span class="tag">{Format.duration(planningMillis)}</span>}
          {probability !== undefined && <span class="tag">probability {Format.share(probability)}</span>}
        </h3>
        {completions.length === 0 && <p class="dim">This policy called no model: its plan comes from a rule.</p>}
        {completions.map(({ attempt, cached, error, paid, reasoning, text }) => (
          <div key={attempt} class="completion">
            <p class="dim">
              Completion {attempt + 1} {cached === true && <State state="cached" />}{" "}
              {paid !== undefined && <Money usd={paid.costUsd} />}
            </p>
            <Text text={text} kind="code-text" />
            {reasoning !== "" && (
              <details>
                <summary>Reasoning</summary>
                <Text text={reasoning} kind="message-text" />
              </details>
            )}
            {error !== undefined && <p class="tone-failed">Not read as a plan: {Format.oneLine(error)}</p>}
          </div>
        ))}
        {workflow !== undefined && (
          <details open={completions.length === 0}>
            <summary>The plan as it was read ({workflow.steps.length} steps)</summary>
            <Text text={JSON.stringify(workflow, null, 2)} kind="code-text" />
          </details>
        )}
        {notes.map((note, index) => (
          <p key={index} class="notice">
            {Format.oneLine(note)}
          </p>
        ))}
        {revisions.map(({ decision, policy }, index) => (
          <p key={index} class="notice">
            {policy}: {decision === "go-on" ? "continue" : decision}
          </p>
        ))}
      </section>
    </section>
  )
}

/** @jsxImportSource preact */
/** Displays how a policy planned a round: the conversation sent to it, the text it generated, and the parsed plan. */
import { Message, type Transcript } from "@divisi/core"
import * as Format from "../run/Format.ts"
import { seenText } from "../run/StepConversation.ts"
import { sourceOf } from "../run/Waterfall.ts"
import { State } from "./Icons.tsx"
import { Money, Text } from "./Parts.tsx"

/** An earlier round, with the answers shown to the policy. */
const Earlier = ({ round }: { readonly round: Transcript.RoundRecord }) => (
  <li class="message">
    <div class="from">Round {round.round}</div>
    <div>
      {round.steps.map(({ checks = [], detail, state, step, text, worker }) => (
        <details key={step}>
          <summary>
            Step {step}, {Format.oneLine(worker, 60)}: {state}
          </summary>
          <Text text={text || detail || ""} kind="message-text" />
          {checks.map(({ check, objection }, index) =>
            objection === undefined ? null : (
              <p key={index} class="tone-failed">
                {check}: {Format.visible(objection)}
              </p>
            )
          )}
        </details>
      ))}
      <Text text={round.answer ?? "This round has no answer."} kind="message-text" />
      {round.grade !== undefined && (
        <p class="dim">
          Scored {Format.share(round.grade.grade.score)}
          {round.grade.grade.explanation !== undefined && `: ${Format.visible(round.grade.grade.explanation)}`}
        </p>
      )}
    </div>
  </li>
)

/** Renders the steps of a plan as a list. */
const Plan = ({
  pool,
  workflow
}: {
  readonly pool: Transcript.Transcript["pool"]
  readonly workflow: NonNullable<Transcript.RoundRecord["workflow"]>
}) => (
  <ol class="messages">
    {workflow.steps.map(({ access, subtask, worker }, index) => (
      <li key={index} class="message">
        <div class="from">
          Step {index}
          <span class="role">{Format.oneLine(pool[worker]?.id ?? "self", 60)}</span>
        </div>
        <div>
          <Text text={subtask === "" ? "The question itself." : subtask} kind="message-text" />
          <span class="tag">{seenText(access)}</span>
        </div>
      </li>
    ))}
  </ol>
)

/** Renders how a round was planned. */
export const PolicyPane = ({
  transcript,
  round
}: {
  readonly transcript: Transcript.Transcript
  readonly round: Transcript.RoundRecord
}) => {
  const { completions, decision, lost, notes, planningMillis, policy, probability, revisions = [], workflow } = round
  return (
    <section class="step-body" aria-label="Policy">
      <section>
        <h3>Shown to the policy</h3>
        <p class="dim">
          The conversation, the {transcript.pool.length} workers by number
          {round.round > 0 && ", and the rounds before"}. A policy that calls a model adds its own instructions.
        </p>
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
                {description !== undefined && <span class="dim">{Format.visible(description)}</span>}
              </div>
            </li>
          ))}
          {transcript.rounds.slice(0, round.round).map((one) => (
            <Earlier key={one.round} round={one} />
          ))}
        </ol>
      </section>
      <section>
        <h3>
          Written by {Format.oneLine(policy ?? transcript.policy, 60)}
          {planningMillis !== undefined && <span class="tag">{Format.duration(planningMillis)}</span>}
          {probability !== undefined && <span class="tag">probability {Format.share(probability)}</span>}
        </h3>
        {transcript.reason !== undefined && <p class="dim">{Format.visible(transcript.reason)}</p>}
        {completions.length === 0 && <p class="dim">This policy called no model: its plan comes from a rule.</p>}
        {completions.map(({ attempt, error, paid, reasoning, text, ...completion }) => (
          <div key={attempt} class="completion">
            <p class="dim">
              Completion {attempt + 1} {sourceOf(completion) && <State state={sourceOf(completion)!} />}{" "}
              {paid !== undefined && <Money usd={paid.costUsd} />}
            </p>
            <Text text={text} kind="code-text" />
            {reasoning !== "" && (
              <details>
                <summary>Reasoning</summary>
                <Text text={reasoning} kind="message-text" />
              </details>
            )}
            {error !== undefined && <p class="tone-failed">Not read as a plan: {Format.visible(error)}</p>}
          </div>
        ))}
        {lost.map(({ message, worker }, index) => (
          <p key={index} class="tone-failed">
            The call of {Format.oneLine(worker, 60)} failed: {Format.visible(message ?? "no reason is recorded")}
          </p>
        ))}
        {workflow !== undefined && (
          <section>
            <h3>Read as a plan of {Format.counted(workflow.steps.length, "step")}</h3>
            <Plan pool={transcript.pool} workflow={workflow} />
            <details>
              <summary>All fields of the plan</summary>
              <Text text={JSON.stringify(workflow, null, 2)} kind="code-text" />
            </details>
          </section>
        )}
        {decision !== undefined && (
          <p class="notice">
            A person {decision.decision} the plan
            {decision.reason !== undefined && `: ${Format.visible(decision.reason)}`}
          </p>
        )}
        {notes.map((note, index) => (
          <p key={index} class="notice">
            {Format.visible(note)}
          </p>
        ))}
        {revisions.map(({ decision, policy }, index) => (
          <p key={index} class="notice">
            After failed checks, {Format.oneLine(policy, 60)} decided: {decision === "go-on" ? "continue" : decision}
          </p>
        ))}
      </section>
    </section>
  )
}

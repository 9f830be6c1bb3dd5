/** @jsxImportSource preact */
/** Details of the selected step: the messages sent to its worker, its answer, its calls and its tools. */
import { Message, RunEvent, type Transcript } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { Fragment } from "preact"
import { useMemo } from "preact/hooks"
import * as Format from "../run/Format.ts"
import { seenText, sentMessages } from "../run/StepConversation.ts"
import type { Row } from "../run/Waterfall.ts"
import { State } from "./Icons.tsx"
import { Action, Head, Money, Text } from "./Parts.tsx"
import { callWords, costOf, skipSentence, stateOfStep, tokensOf } from "./Steps.ts"

const attachments = (content: Message.Content): ReadonlyArray<string> =>
  typeof content === "string"
    ? []
    : content.flatMap((part) => (part.type === "text" ? [] : [`${part.type}${"url" in part ? " (by URL)" : ""}`]))

const SentMessage = ({
  from,
  isAbsent,
  isOwn,
  message
}: {
  readonly from: string
  /** Whether the message refers to an answer that does not exist. */
  readonly isAbsent: boolean
  readonly message: Message.Message
  readonly isOwn: boolean
}) => {
  const text = Message.text(message)
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
  return (
    <li class={`message ${isOwn ? "own" : ""} ${message.role === "tool" && message.isError === true ? "bad" : ""}`}>
      <div class="from">
        {from}
        <span class="role">{message.role}</span>
      </div>
      <div>
        {isAbsent ? (
          <p class="dim">It has no answer.</p>
        ) : (
          (text !== "" || calls.length === 0) && <Text text={text} kind="message-text" />
        )}
        {attachments(message.content).map((one, index) => (
          <span key={index} class="tag">
            {one}
          </span>
        ))}
        {calls.map((call) => (
          <code key={call.id} class="call-text">
            {Format.visible(`${call.name}(${call.arguments.slice(0, 2_000)})`)}
          </code>
        ))}
      </div>
    </li>
  )
}

const Calls = ({ calls, isPlay }: { readonly calls: Row["calls"]; readonly isPlay: boolean }) => (
  <table class="table mini">
    <Head columns={["Call", "Worker", "Result", ["Started", "right"], ["Time", "right"], ["Price", "right"]]} />
    <tbody>
      {calls.map(({ costUsd, from, kind, message, retryInMillis, to, worker }, index) => {
        const reasons = [
          ...(message === undefined ? [] : [Format.oneLine(message)]),
          ...(retryInMillis === undefined ? [] : [`Next attempt after ${Format.duration(retryInMillis)}.`])
        ]
        return (
          <Fragment key={index}>
            <tr class={reasons.length > 0 ? "explained" : ""}>
              <td>{index + 1}</td>
              <td>{worker}</td>
              <td>
                <State
                  state={kind === "turn" ? "pending" : kind === "answer" ? "answered" : kind}
                  word={callWords[kind]}
                />
              </td>
              <td class="right">+{Format.duration(from)}</td>
              <td class="right">{Format.duration(to - from)}</td>
              <td class="right">{kind === "running" ? "" : <Money usd={costUsd} isPlay={isPlay} />}</td>
            </tr>
            {reasons.length > 0 && (
              <tr>
                <td />
                <td class="why" colSpan={5}>
                  {reasons.join(" ")}
                </td>
              </tr>
            )}
          </Fragment>
        )
      })}
    </tbody>
  </table>
)

const Tools = ({ turns }: { readonly turns: ReadonlyArray<Transcript.TurnRecord> }) => {
  const tools = turns.flatMap((turn) => turn.tools.map((tool) => ({ ...tool, turn: turn.turn })))
  if (tools.length === 0) return null
  return (
    <section>
      <h3>Tools</h3>
      <table class="table mini">
        <Head columns={["Turn", "Tool and arguments", "Result", ["Time", "right"]]} />
        <tbody>
          {tools.map(({ call, content, durationMillis, endedAt, isError, progress, turn }, index) => (
            <tr key={index}>
              <td>{turn + 1}</td>
              <td>
                <code>{Format.oneLine(`${call.name}(${call.arguments})`)}</code>
              </td>
              <td>
                {endedAt === undefined ? (
                  <State
                    state="running"
                    word={progress?.message === undefined ? "Pending" : Format.oneLine(progress.message, 80)}
                  />
                ) : (
                  <span class={isError === true ? "tone-failed" : ""}>
                    {Format.oneLine(Message.text(content), 200)}
                  </span>
                )}
              </td>
              <td class="right">{durationMillis === undefined ? "" : Format.duration(durationMillis)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Number of items to list initially, and to add with each click. */
const pageLength = 100

/** The items of a step, as a table in which one can be opened. */
const Items = ({
  isPlay,
  onOpen,
  record
}: {
  readonly record: Transcript.StepRecord
  readonly isPlay: boolean
  readonly onOpen: (item: string) => void
}) => {
  const shown = useSignal(pageLength)
  const { items = [], unfolded = items.length } = record
  const answered = items.filter(({ state }) => state === "answered").length
  return (
    <section aria-label="Items">
      <h3>
        {Format.counted(unfolded, "item")}
        <span class="tag">{Format.whole(answered)} answered</span>
      </h3>
      <table class="table mini">
        <Head columns={["Item", ["Worker", "wide-only"], "State", "Answer", ["Time", "right"], ["Price", "right"]]} />
        <tbody>
          {items.slice(0, shown.value).map((one) => (
            <tr key={one.item}>
              <th scope="row">
                <button type="button" class="link" onClick={() => onOpen(one.item ?? "")}>
                  {one.item}
                </button>
              </th>
              <td class="wide-only">{RunEvent.authorOf(one)}</td>
              <td>
                <State state={stateOfStep(one)} />
              </td>
              <td class="wide">
                {Format.oneLine(one.state === "failed" ? (one.detail ?? "") : one.text.slice(0, 400), 160)}
              </td>
              <td class="right">{one.durationMillis === undefined ? "" : Format.duration(one.durationMillis)}</td>
              <td class="right">{one.state === "skipped" ? "" : <Money usd={costOf(one)} isPlay={isPlay} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {items.length > shown.value && (
        <button type="button" class="button" onClick={() => (shown.value += pageLength)}>
          Show {Format.whole(Math.min(pageLength, items.length - shown.value))} more
        </button>
      )}
    </section>
  )
}

interface Props {
  readonly transcript: Transcript.Transcript
  /** The step, or one of its items. */
  readonly row: Row
  /** Opens an item of the step, or the step itself. */
  readonly onItem: (item: string | undefined) => void
  /** Cost of the whole run, in USD. */
  readonly runCost: number
  readonly isPlay: boolean
  readonly onOpenNested: (() => void) | undefined
}

/** The states of steps without an answer or a failure. */
const isAbsent: ReadonlySet<string> = new Set(["waiting", "running", "suspended", "skipped"])

/** The calls that returned no answer. */
const isWasted: ReadonlySet<string> = new Set(["failed", "interrupted", "unconfirmed"])

/** Renders a step. */
export const StepPane = ({ isPlay, onItem, onOpenNested, row, runCost, transcript }: Props) => {
  const { record, round, step } = row
  const { item } = record
  const isCurrent = useSignal(true)
  const messages = useMemo(() => sentMessages(transcript, round, step, item), [transcript, round, step, item])
  const cost = costOf(record)
  const { inputTokens, outputTokens } = tokensOf(record)
  const planned = transcript.rounds[round]?.workflow?.steps[step]
  const failedSteps = (transcript.rounds[round]?.steps ?? []).flatMap(({ state, step }) =>
    state === "failed" ? step : []
  )
  const { checks = [], detail, model, notices = [], reasoning, reassigned, text, turns = [], waitingFor = [] } = record
  const isUnsent = record.startedAt === undefined && isAbsent.has(record.state)
  const messagesTitle =
    record.state === "waiting" ? "Messages to send" : isUnsent ? "Messages, not sent" : "Messages sent"
  // The texts for absent answers are those of a step that starts without them.
  const absentSteps = new Set(
    (isUnsent ? (transcript.rounds[round]?.steps ?? []) : []).flatMap(({ state, step }) =>
      isAbsent.has(state) ? `Step ${step}` : []
    )
  )
  const wasted = row.calls.filter(({ kind }) => isWasted.has(kind)).length
  const question = messages.findIndex(({ from }) => from === "Question")
  return (
    <section class="step" aria-label={item === undefined ? `Step ${step}` : `Step ${step}, item ${item}`}>
      <div class="step-head">
        {item !== undefined && (
          <button type="button" class="link" onClick={() => onItem(undefined)}>
            All items of step {step}
          </button>
        )}
        <h2>{item === undefined ? `Step ${step}` : `Item ${item}`}</h2>
        <span class="dim">{RunEvent.authorOf(record)}</span>
        <State state={stateOfStep(record)} />
        {row.isCritical && <span class="tag">on the critical path</span>}
        {model !== undefined && <span class="tag">{model}</span>}
        {wasted > 0 && <span class="tag tone-failed">{Format.counted(wasted, "call")} without an answer</span>}
        {reassigned.length > 0 && (
          <span class="tag tone-waiting">reassigned from {reassigned.map(({ from }) => from).join(", ")}</span>
        )}
        <span class="grow" />
        <dl class="facts">
          <div>
            <dt>Time</dt>
            <dd>
              {row.from === undefined || row.to === undefined ? "not started" : Format.duration(row.to - row.from)}
            </dd>
          </div>
          <div>
            <dt>Price</dt>
            <dd>
              {row.isReused ? "not paid again" : <Money usd={cost} isPlay={isPlay} />}
              {cost !== undefined && runCost > 0 && !row.isReused && (
                <span class="dim"> {Math.round((cost / runCost) * 100)} % of run</span>
              )}
            </dd>
          </div>
          <div>
            <dt>Tokens</dt>
            <dd>
              {Format.whole(inputTokens)} <span class="dim">in,</span> {Format.whole(outputTokens)}{" "}
              <span class="dim">out</span>
            </dd>
          </div>
        </dl>
        {onOpenNested !== undefined && (
          <Action icon="runs" onClick={onOpenNested}>
            Open nested run
          </Action>
        )}
      </div>
      {record.items === undefined && record.unfolded === undefined ? (
        <div class="step-body">
          <section aria-label={messagesTitle}>
            <h3>
              {messagesTitle}
              <span class="tag">{seenText(planned?.access ?? [], failedSteps)}</span>
            </h3>
            {notices.map((notice, index) => (
              <p key={index} class="notice">
                {Format.oneLine(notice)}
              </p>
            ))}
            <ol class="messages">
              {messages.map(({ from, message }, index) => (
                <SentMessage
                  key={index}
                  from={from}
                  message={message}
                  isOwn={index === question}
                  isAbsent={message.role === "assistant" && absentSteps.has(from)}
                />
              ))}
            </ol>
          </section>
          <section aria-label="Answer">
            <h3>{record.state === "failed" ? "Failure" : "Answer"}</h3>
            {record.state === "failed" || record.state === "skipped" ? (
              <p class={record.state === "failed" ? "tone-failed" : "dim"}>
                {record.state === "failed" ? Format.visible(detail ?? "No reason is recorded.") : skipSentence(record)}
              </p>
            ) : text === "" && record.state !== "answered" ? (
              <p class="dim">
                {record.state === "running"
                  ? "No text yet."
                  : record.state === "suspended"
                    ? "No text. The step needs the result below."
                    : "This step has not started."}
              </p>
            ) : (
              <Text text={text} />
            )}
            {waitingFor.map((call) => (
              <p key={call.id} class="notice warn">
                <State state="waiting" word={call.for === "approval" ? "Approval needed" : "Tool result needed"} />
                <code>{Format.oneLine(`${call.call.name}(${call.call.arguments})`)}</code>
              </p>
            ))}
            {reasoning !== "" && (
              <details open={isCurrent.value && text === ""}>
                <summary>Reasoning ({Format.whole(reasoning.length)} characters)</summary>
                <Text text={reasoning} kind="message-text" />
              </details>
            )}
            {row.calls.length > 0 && (
              <section>
                <h3>{Format.counted(row.calls.length, "call")}</h3>
                <Calls calls={row.calls} isPlay={isPlay} />
              </section>
            )}
            <Tools turns={turns} />
            {checks.length > 0 && (
              <section>
                <h3>Checks</h3>
                {checks.map(({ check, couldNotRun, objection, passed, worker }, index) => (
                  <p key={index}>
                    <State
                      state={passed ? "answered" : couldNotRun ? "skipped" : "failed"}
                      word={passed ? "Passed" : couldNotRun ? "Not checked" : "Not passed"}
                    />{" "}
                    {check} on {worker}
                    {objection !== undefined && `: ${Format.oneLine(objection)}`}
                  </p>
                ))}
              </section>
            )}
          </section>
        </div>
      ) : (
        <div class="step-body whole">
          <Items record={record} isPlay={isPlay} onOpen={onItem} />
        </div>
      )}
    </section>
  )
}

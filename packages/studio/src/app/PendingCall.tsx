/** @jsxImportSource preact */
/** A pending tool call: its arguments, and a form for entering its result or approving it. */
import type { RunEvent } from "@divisi/core"
import * as Format from "../run/Format.ts"
import { State } from "./Icons.tsx"
import { Action, Text } from "./Parts.tsx"
import { SendingError, useSending } from "./Sending.tsx"
import { canSteer, type Given, resume } from "./Steering.ts"

const indented = (text: string): string => {
  if (text.length > 20_000) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

interface Props {
  readonly run: string
  readonly call: RunEvent.WaitingCall
  readonly onSent: () => void
}

/** Renders a pending call and its form. */
export const PendingCall = ({ call, onSent, run }: Props) => {
  const { error, isBusy, send } = useSending()
  const isApproval = call.for === "approval"
  const give = (given: Given) =>
    send(async () => {
      await resume(run, { [call.id]: given })
      onSent()
    })
  return (
    <section class="decision" aria-label={`Pending call of ${Format.oneLine(call.call.name, 60)}`}>
      <h2>
        <State state="waiting" word={isApproval ? "Approval needed" : "Tool result needed"} />
        <code>{Format.oneLine(call.call.name, 80)}</code>
        <span class="tag">step {call.step}</span>
      </h2>
      <Text text={indented(call.call.arguments)} kind="message-text mono" />
      {!canSteer() ? (
        <code class="dim">
          divisi runs resume {run} {isApproval ? `--approve ${call.id}` : `--result ${call.id}=…`}
        </code>
      ) : isApproval ? (
        <p class="actions">
          <Action kind="primary" disabled={isBusy.value} onClick={() => give({ approved: true })}>
            Approve the call
          </Action>
          <Action kind="danger" disabled={isBusy.value} onClick={() => give({ approved: false })}>
            Decline
          </Action>
        </p>
      ) : (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            const data = new FormData(event.currentTarget)
            const content = data.get("result")?.toString() ?? ""
            give(data.has("failed") ? { content, is_error: true } : content)
          }}
        >
          <label>
            Result
            <textarea name="result" rows={3} />
          </label>
          <p class="actions">
            <Action kind="primary" type="submit" disabled={isBusy.value}>
              Send the result
            </Action>
            <label class="check">
              <input type="checkbox" name="failed" /> The tool failed
            </label>
          </p>
        </form>
      )}
      <SendingError error={error} />
    </section>
  )
}

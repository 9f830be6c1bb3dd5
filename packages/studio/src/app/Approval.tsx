/** @jsxImportSource preact */
/** A plan that requires approval: its price by worker, and buttons to approve or decline it. */
import { type RunEvent, type Transcript, Transcript as Transcripts } from "@divisi/core"
import { useSignal } from "@preact/signals"
import * as Format from "../run/Format.ts"
import { FormPrice } from "./FormPrice.tsx"
import { lazy } from "./Lazy.tsx"
import { Action, Head, Money, Text } from "./Parts.tsx"
import { isRefused, SendingError, useSending } from "./Sending.tsx"
import { canSteer, type Given, resume } from "./Steering.ts"

const PlanEditor = lazy(() => import("./PlanEditor.tsx"), "PlanEditor")

interface Amount {
  readonly calls?: number
  readonly tokens?: number
  readonly costUsd?: number
}

interface Proposal {
  readonly plan?: string
  readonly problem?: string
  readonly price?: {
    readonly least?: Amount
    readonly likely?: Amount
    readonly most?: Amount
    readonly steps?: ReadonlyArray<Amount>
  }
}

/** Parses the arguments of the call that requests approval of the plan. */
const proposalOf = ({ call }: RunEvent.WaitingCall): Proposal => {
  try {
    const value: unknown = JSON.parse(call.arguments)
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Returns the worst-case price of each worker's steps, or `undefined` if a price is unknown. */
const byWorker = (
  round: Transcript.RoundRecord,
  pool: ReadonlyArray<{ readonly id: string }>,
  steps: ReadonlyArray<Amount>
) => {
  const sums = new Map<string, { steps: number; usd: number | undefined }>()
  for (const [step, { worker }] of (round.workflow?.steps ?? []).entries()) {
    const name = pool[worker]?.id ?? `worker ${worker}`
    const { steps: count, usd } = sums.get(name) ?? { steps: 0, usd: 0 }
    const own = steps[step]?.costUsd
    sums.set(name, { steps: count + 1, usd: usd === undefined || own === undefined ? undefined : usd + own })
  }
  return [...sums].sort(([, one], [, other]) => (other.usd ?? 0) - (one.usd ?? 0))
}

interface Props {
  readonly transcript: Transcript.Transcript
  readonly round: Transcript.RoundRecord
  readonly call: RunEvent.WaitingCall
  readonly onSent: () => void
}

const focus = (element: HTMLElement | null) => element?.focus()

/** Displays the price and the buttons. */
export const Approval = ({ call, onSent, round, transcript }: Props) => {
  const { plan = "", price, problem } = proposalOf(call)
  const pane = useSignal<"none" | "refuse" | "edit">("none")
  const { error, isBusy, send } = useSending()
  const { runId, pool } = transcript
  const isPlay = Transcripts.isAllPlay(pool)
  const decide = (given: Given) =>
    send(async () => {
      await resume(runId, { [call.id]: given })
      onSent()
    })
  const rows = byWorker(round, pool, price?.steps ?? [])
  return (
    <section class="decision" aria-label="Plan approval">
      <div class="decision-head">
        <div>
          <h2>This plan is waiting for your approval</h2>
          <p class="dim">No step has started, and nothing has been paid yet.</p>
        </div>
        {price !== undefined && (
          <dl class="stats">
            <div class="stat">
              <dt>At most</dt>
              <dd class="value">
                <Money usd={price.most?.costUsd} isPlay={isPlay} />
              </dd>
              {price.most?.costUsd === undefined && (
                <dd class="note">a step may call tools, or its price is unknown</dd>
              )}
            </div>
            <div class="stat">
              <dt>Likely</dt>
              <dd class="value">
                <Money usd={price.likely?.costUsd} isPlay={isPlay} />
              </dd>
              <dd class="note">
                at least <Money usd={price.least?.costUsd} isPlay={isPlay} />
              </dd>
              <dd class="note">
                {Format.whole(price.likely?.calls ?? 0)} calls, {Format.tokens(Math.round(price.likely?.tokens ?? 0))}{" "}
                tokens
              </dd>
            </div>
          </dl>
        )}
      </div>
      {problem !== undefined && <p class="notice bad">The edited plan was not accepted: {Format.visible(problem)}</p>}
      {rows.length > 0 && (
        <table class="table mini">
          <Head columns={["Worker", ["Steps", "right"], ["At most", "right"]]} />
          <tbody>
            {rows.map(([name, { steps, usd }]) => (
              <tr key={name}>
                <td>{Format.oneLine(name, 80)}</td>
                <td class="right">{steps}</td>
                <td class="right">
                  <Money usd={usd} isPlay={isPlay} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!canSteer() ? (
        <p class="dim">
          Decide with{" "}
          <code>
            divisi runs resume {runId} --approve {call.id}
          </code>{" "}
          or <code>--decline {call.id}</code>.
        </p>
      ) : pane.value === "none" ? (
        <p class="actions">
          <Action kind="primary" disabled={isBusy.value} onClick={() => decide({ approved: true })}>
            Approve and run
          </Action>
          {plan !== "" && <Action onClick={() => (pane.value = "edit")}>Edit the plan</Action>}
          <Action kind="danger" onClick={() => (pane.value = "refuse")}>
            Refuse
          </Action>
        </p>
      ) : (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            if (isRefused(event.currentTarget)) return
            const data = new FormData(event.currentTarget)
            const textOf = (name: string) => data.get(name)?.toString() ?? ""
            const reason = textOf("reason").trim()
            if (pane.value === "edit") decide(textOf("plan"))
            else decide(reason === "" ? { approved: false } : { approved: false, reason })
          }}
        >
          {pane.value === "edit" ? (
            <>
              <PlanEditor transcript={transcript} round={round.round} refusal={error.value} />
              <FormPrice
                run={runId}
                of={(form) => ({ plan: form.get("plan")?.toString() ?? plan, round: round.round })}
              />
            </>
          ) : (
            <label>
              Reason (optional)
              <input ref={focus} name="reason" maxLength={2000} autocomplete="off" />
            </label>
          )}
          <p class="actions">
            <Action kind={pane.value === "edit" ? "primary" : "danger"} type="submit" disabled={isBusy.value}>
              {pane.value === "edit" ? "Run this plan" : "Refuse the plan"}
            </Action>
            <Action kind="quiet" onClick={() => (pane.value = "none")}>
              Back
            </Action>
          </p>
        </form>
      )}
      <SendingError error={error} />
      {plan !== "" && pane.value !== "edit" && (
        <details>
          <summary>Plan as text</summary>
          <Text text={plan} kind="message-text" />
        </details>
      )}
    </section>
  )
}

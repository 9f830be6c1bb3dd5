/** @jsxImportSource preact */
/** A form for forking a run from a step, with a different answer, worker, instruction, plan or policy. */
import type { Transcript } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Format from "../run/Format.ts"
import { FormPrice } from "./FormPrice.tsx"
import { lazy } from "./Lazy.tsx"
import { Action } from "./Parts.tsx"
import { go, href } from "./Router.ts"
import { isRefused, SendingError, useSending } from "./Sending.tsx"
import { type Fork, fork, type Offer, readOffer, workersIn } from "./Steering.ts"

const PlanEditor = lazy(() => import("./PlanEditor.tsx"), "PlanEditor")

/** Available changes for a fork. */
const changes = { worker: "Run it again", answer: "Give its answer", plan: "Edit the plan" } as const

type Change = keyof typeof changes

/** Maximum number of characters in the field for an answer. */
const maxAnswer = 100_000

interface Props {
  readonly run: string
  /** Path of the nested run that is displayed, such as `0.2/`; empty for the run itself. */
  readonly within: string
  readonly transcript: Transcript.Transcript
  readonly round: number
  readonly step: number
  readonly item: string | undefined
  readonly onClose: () => void
}

const textIn = (data: FormData, name: string): string | undefined => {
  const text = data.get(name)?.toString() ?? ""
  return text === "" ? undefined : text
}

/** Renders the form. */
export const ForkForm = ({ item, onClose, round, run, step, transcript, within }: Props) => {
  const { error, isBusy, send } = useSending()
  const offer = useSignal<Offer | undefined>(undefined)
  const change = useSignal<Change>("worker")
  useEffect(() => {
    const abort = new AbortController()
    readOffer(abort.signal).then(
      (found) => {
        offer.value = found
      },
      // The run's workers remain available.
      () => {}
    )
    return () => abort.abort()
  }, [])
  const planned = transcript.rounds[round]?.workflow?.steps[step]
  const record = transcript.rounds[round]?.steps[step]
  const own = (item === undefined ? record : record?.items?.find((one) => one.item === item)) ?? record
  // When the server's offer arrives, options are added and the selection is preserved.
  const worker = useSignal(own?.worker ?? "")
  const workers = [
    ...new Set([...transcript.pool.map(({ id }) => id), ...(offer.value === undefined ? [] : workersIn(offer.value))])
  ]
  const at = `${within}${Format.place({ round, step, item })}`
  const forkIn = (data: FormData): Fork => {
    const [answer, worker, subtask, plan] = ["answer", "worker", "subtask", "plan"].map((name) => textIn(data, name))
    return {
      at,
      ...(answer !== undefined && { answer }),
      ...(worker !== undefined && worker !== own?.worker && { worker }),
      ...(subtask !== undefined && subtask !== planned?.subtask && { subtask }),
      ...(plan !== undefined && { plan })
    }
  }
  const submit = (data: FormData) =>
    send(async () => {
      const policy = textIn(data, "policy")
      const forked = await fork(run, { ...forkIn(data), ...(policy !== undefined && { policy }) })
      onClose()
      go(href(["runs", forked]))
    })
  return (
    <form
      class="decision form"
      aria-label="Fork"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        onClose()
      }}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isRefused(event.currentTarget)) submit(new FormData(event.currentTarget))
      }}
    >
      <h2>Fork from step {step}</h2>
      <p class="dim">
        A new run continues from here. Steps that do not depend on this one keep their answers, which cost nothing.
      </p>
      <p class="actions" role="group" aria-label="Change">
        {Object.entries(changes).map(([one, name]) => (
          <Action
            key={one}
            kind={change.value === one ? "small on" : "small"}
            pressed={change.value === one}
            onClick={() => (change.value = one as Change)}
          >
            {name}
          </Action>
        ))}
      </p>
      {change.value === "worker" ? (
        <>
          <label>
            Worker
            <select name="worker" value={worker.value} onChange={(event) => (worker.value = event.currentTarget.value)}>
              {workers.map((id) => (
                <option key={id} value={id}>
                  {Format.oneLine(id, 80)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Instruction of the step
            <textarea name="subtask" rows={4} defaultValue={planned?.subtask ?? ""} />
          </label>
        </>
      ) : change.value === "plan" ? (
        <>
          <p class="dim">Steps that you change or add also run, and those that see their answers.</p>
          <PlanEditor transcript={transcript} round={round} refusal={error.value} />
        </>
      ) : (
        <>
          {(own?.text.length ?? 0) > maxAnswer && (
            <p class="notice warn">
              The field has the first {Format.whole(maxAnswer)} of {Format.whole(own!.text.length)} characters. The rest
              is not part of the new answer.
            </p>
          )}
          <label>
            Answer of the step
            <textarea name="answer" rows={6} required defaultValue={own?.text.slice(0, maxAnswer) ?? ""} />
          </label>
        </>
      )}
      {(offer.value?.policies.length ?? 0) > 0 && (
        <label>
          Policy of later rounds
          <select name="policy">
            <option value="">The server's own</option>
            {offer.value!.policies.map((name) => (
              <option key={name} value={name}>
                {Format.oneLine(name, 80)}
              </option>
            ))}
          </select>
        </label>
      )}
      <FormPrice key={change.value} run={run} of={forkIn} note="Steps that keep their answers cost nothing." />
      <p class="actions">
        <Action kind="primary" icon="fork" type="submit" disabled={isBusy.value}>
          Fork and run
        </Action>
        <Action kind="quiet" onClick={onClose}>
          Close
        </Action>
      </p>
      <SendingError error={error} />
    </form>
  )
}

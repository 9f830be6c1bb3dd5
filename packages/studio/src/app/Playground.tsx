/** @jsxImportSource preact */
/** Runs a question on the server, with a selected model, policy, budget and tools. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import * as Comparison from "../run/Comparison.ts"
import * as Format from "../run/Format.ts"
import { announce } from "./Announcer.tsx"
import { eventsIn, readRun } from "./Follow.ts"
import { State } from "./Icons.tsx"
import { Action, Failed, Skeleton, Text } from "./Parts.tsx"
import { href, place } from "./Router.ts"
import { SendingError, useSending } from "./Sending.tsx"
import { ask } from "./Source.ts"
import { cancel, type Offer, readOffer, workersIn } from "./Steering.ts"

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null }
    readonly finish_reason?: string | null
  }>
  readonly usage?: { readonly cost_usd?: number; readonly total_tokens?: number } | null
  readonly error?: { readonly message?: string }
}

/** Builds the body of a Chat Completions request from the form fields. */
const bodyOf = (form: FormData) => {
  const text = (name: string) => form.get(name)?.toString().trim() ?? ""
  const [budget, policy, tools] = [text("budget"), text("policy"), text("tools")]
  const only = form.getAll("worker")
  return {
    model: text("model"),
    messages: [{ role: "user", content: text("question") }],
    stream: true,
    stream_options: { include_usage: true },
    divisi: {
      ...(policy !== "" && { policy }),
      ...(only.length > 0 && { only }),
      ...(budget !== "" && { max_cost_usd: Number(budget) })
    },
    ...(tools !== "" && {
      tool_choice: tools === "none" ? tools : { type: "function", function: { name: tools.slice("tool:".length) } }
    })
  }
}

const Select = ({
  label,
  name,
  options,
  value
}: {
  readonly label: string
  readonly name: string
  /** The option that is selected at first. Default: the first option. */
  readonly value?: string
  readonly options: ReadonlyArray<readonly [value: string, text: string]>
}) => (
  <label>
    {label}
    <select name={name}>
      {options.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {Format.oneLine(text, 80)}
        </option>
      ))}
    </select>
  </label>
)

/** The state of the answer to the current question. */
interface Answer {
  readonly run: string
  readonly text: string
  readonly notes: string
  readonly state: string
  readonly costUsd?: number | undefined
}

/** Renders the form and the answer. */
export const PlaygroundPage = () => {
  const offer = useSignal<Offer | Error | undefined>(undefined)
  const answer = useSignal<Answer | undefined>(undefined)
  const attempt = useSignal(0)
  const stopping = useRef(new AbortController())
  const { error, isBusy, send } = useSending()
  useEffect(() => {
    const abort = new AbortController()
    readOffer(abort.signal).then(
      (found) => {
        offer.value = found
      },
      (cause: Error) => {
        if (!abort.signal.aborted) offer.value = cause
      }
    )
    return () => abort.abort()
  }, [attempt.value])
  useEffect(() => () => stopping.current.abort(), [])
  // A link from a run repeats its question, of which the list of runs has only the start.
  const repeated = place.value.query.get("run")
  const question = useSignal("")
  useEffect(() => {
    const abort = new AbortController()
    if (repeated !== null)
      readRun(repeated, abort.signal).then(
        ({ transcript }) => {
          if (transcript !== undefined) question.value = Comparison.questionOf(transcript)
        },
        (cause: Error) => {
          if (!abort.signal.aborted) error.value = cause.message
        }
      )
    return () => abort.abort()
  }, [repeated])
  const { value } = offer
  if (value === undefined) return <Skeleton />
  if (value instanceof Error) return <Failed error={value} retry={() => (attempt.value += 1)} />

  const run = async (form: FormData) => {
    stopping.current = new AbortController()
    const { signal } = stopping.current
    answer.value = undefined
    const response = await ask("v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyOf(form)),
      signal
    })
    let now: Answer = { run: response.headers.get("x-divisi-run") ?? "", text: "", notes: "", state: "running" }
    let frame = 0
    // Renders at most once per animation frame, however many chunks arrive.
    const draw = () => {
      frame = 0
      answer.value = now
    }
    draw()
    try {
      for await (const { data } of eventsIn(response.body!)) {
        if (data === "[DONE]") continue
        const { choices = [], error, usage } = JSON.parse(data) as Chunk
        if (error?.message !== undefined) throw new Error(error.message)
        const { delta, finish_reason } = choices[0] ?? {}
        now = {
          ...now,
          text: now.text + (delta?.content ?? ""),
          notes: now.notes + (delta?.reasoning_content ?? ""),
          state: finish_reason === "tool_calls" ? "waiting" : finish_reason ? "answered" : now.state,
          costUsd: usage?.cost_usd ?? now.costUsd
        }
        if (frame === 0) frame = requestAnimationFrame(draw)
      }
    } catch (cause) {
      now = { ...now, state: signal.aborted ? "stopped" : "failed" }
      if (!signal.aborted) throw cause
    } finally {
      cancelAnimationFrame(frame)
      draw()
      announce(`The question is ${now.state}.`)
    }
  }
  const stop = () => {
    const id = answer.peek()?.run
    stopping.current.abort()
    if (id !== undefined && id !== "") cancel(id).catch(({ message }: Error) => (error.value = message))
  }
  const shown = answer.value
  const { query } = place.value
  return (
    <div class="run">
      <header class="bar">
        <h1>Playground</h1>
        <span class="dim clip">Each question is charged to your key.</span>
      </header>
      <form
        class="decision form"
        aria-label="Question"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          send(() => run(form))
        }}
      >
        <label>
          Question
          <textarea key={question.value} name="question" rows={4} required defaultValue={question.value} />
        </label>
        <div class="fields">
          <Select
            label="Model"
            name="model"
            options={value.models.map((name) => [name, name])}
            value={query.get("model") ?? ""}
          />
          <Select
            label="Policy"
            name="policy"
            options={[["", "The server's own"], ...value.policies.map((name) => [name, name] as const)]}
          />
          <label>
            Budget, USD
            <input name="budget" type="number" min="0" step="any" inputMode="decimal" placeholder="the server's own" />
          </label>
          <Select
            label="Tools"
            name="tools"
            options={[
              ["", "The worker's default"],
              ["none", "None"],
              ...value.tools.map((name) => [`tool:${name}`, `Use ${name}`] as const)
            ]}
          />
        </div>
        <fieldset class="pool">
          <legend>Pool (all workers if none is selected)</legend>
          {workersIn(value).map((id) => (
            <label key={id} class="check">
              <input type="checkbox" name="worker" value={id} /> {Format.oneLine(id, 60)}
            </label>
          ))}
        </fieldset>
        <p class="actions">
          <Action kind="primary" icon="play" type="submit" disabled={isBusy.value}>
            Run
          </Action>
          {isBusy.value && (
            <Action icon="close" onClick={stop}>
              Stop
            </Action>
          )}
        </p>
        <SendingError error={error} />
      </form>
      {shown !== undefined && (
        <section class="decision form" aria-label="Answer">
          <p class="actions">
            <State state={shown.state} />
            {shown.costUsd !== undefined && <span class="dim">{Format.money(shown.costUsd)}</span>}
            {shown.run !== "" && (
              <a class="link" href={href(["runs", shown.run])}>
                {shown.state === "waiting" ? "Open the run to decide" : "Open the run"}
              </a>
            )}
          </p>
          {shown.notes !== "" && (
            <details>
              <summary>Progress</summary>
              <Text text={shown.notes} kind="message-text" />
            </details>
          )}
          {shown.text !== "" && <Text text={shown.text} />}
        </section>
      )}
    </div>
  )
}

/** @jsxImportSource preact */
/**
 * The page for a server's operators: load, vendors, cost by day, key and worker, keys with their budgets, and machines.
 */
import type { Transcript } from "@divisi/core"
import type { Operations } from "@divisi/server"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Format from "../../run/Format.ts"
import type { Summary } from "../../run/Summary.ts"
import { periodically } from "../Data.ts"
import { readRun } from "../Follow.ts"
import { State } from "../Icons.tsx"
import { Failed, Head, Money, Skeleton, Stat } from "../Parts.tsx"
import { ask, askJson, listRuns } from "../Source.ts"
import type { Cost, Sample } from "./Operations.ts"
import * as Operating from "./Operations.ts"

interface Read {
  readonly operations: Operations.State
  readonly metrics: ReadonlyArray<Sample>
}

const readAll = async (signal: AbortSignal): Promise<Read> => {
  const [operations, metrics] = await Promise.all([
    askJson("v1/operations", { signal }) as Promise<Operations.State>,
    ask("metrics", { signal }).then((response) => response.text())
  ])
  return { operations, metrics: Operating.parseMetrics(metrics) }
}

const everyMillis = 5_000

/**
 * Number of recent runs whose calls are added up by worker, because the list of runs does not include the worker of
 * each call.
 */
const maxTranscripts = 30

/** Refreshes the server's state every five seconds while the page is visible, and loads the runs once. */
const useOperations = () => {
  const state = useSignal<{ readonly read?: Read; readonly error?: Error }>({})
  const runs = useSignal<ReadonlyArray<Summary> | undefined>(undefined)
  const transcripts = useSignal<ReadonlyArray<Transcript.Transcript>>([])
  const attempt = useSignal(0)
  useEffect(() => {
    const abort = new AbortController()
    const read = () =>
      readAll(abort.signal).then(
        (read) => {
          if (!abort.signal.aborted) state.value = { read }
        },
        (error: Error) => {
          if (!abort.signal.aborted) state.value = { ...state.peek(), error }
        }
      )
    void read()
    const take = (found: ReadonlyArray<Summary>) => {
      runs.value = found
    }
    listRuns(take, abort.signal)
      .then(async () => {
        for (const { id } of (runs.peek() ?? []).slice(0, maxTranscripts)) {
          // A run that cannot be read is left out.
          const run = await readRun(id, abort.signal).catch(() => undefined)
          if (abort.signal.aborted) return
          if (run?.transcript !== undefined) transcripts.value = [...transcripts.peek(), run.transcript]
        }
      })
      .catch(() => {})
    const stop = periodically(everyMillis, read)
    return () => {
      stop()
      abort.abort()
    }
  }, [attempt.value])
  return { ...state.value, runs: runs.value, transcripts: transcripts.value, retry: () => (attempt.value += 1) }
}

const Days = ({ costs }: { readonly costs: ReadonlyArray<Cost> }) => {
  const most = Math.max(...costs.map(({ costUsd }) => costUsd))
  const total = costs.reduce((sum, { costUsd }) => sum + costUsd, 0)
  const width = 100 / costs.length
  const busiest = costs.find(({ costUsd }) => costUsd === most)
  return (
    <section class="card" aria-label="Cost by day">
      <header>
        <h2>Cost by day</h2>
        <span class="dim">
          {costs.length} days, UTC, <Money usd={total} /> in all
        </span>
      </header>
      <div class="body plot-body days">
        <svg
          class="plot"
          width="100%"
          height="140"
          role="img"
          aria-label={`Cost of the last ${costs.length} days: ${Format.money(total)}; the most on ${busiest?.name}: ${Format.money(most)}.`}
        >
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line class="grid-line" x1="0" x2="100%" y1={`${100 - 100 * share}%`} y2={`${100 - 100 * share}%`} />
              <text class="tick" x="-8" y={`${100 - 100 * share}%`} dy="4" text-anchor="end">
                {most === 0 && share > 0 ? "" : Format.money(most * share)}
              </text>
            </g>
          ))}
          {costs.map(({ costUsd, name, runs }, index) => (
            <g key={name}>
              <rect
                class="day"
                x={`${(index + 0.15) * width}%`}
                width={`${0.7 * width}%`}
                y={`${most === 0 ? 100 : 100 - (100 * costUsd) / most}%`}
                height={`${most === 0 ? 0 : (100 * costUsd) / most}%`}
                rx="2"
              >
                <title>{`${name}: ${Format.money(costUsd)}, ${Format.counted(runs, "run")}`}</title>
              </rect>
              {(index === 0 || index === costs.length - 1) && (
                <text
                  class="tick"
                  x={index === 0 ? "0" : "100%"}
                  y="100%"
                  dy="18"
                  text-anchor={index === 0 ? "start" : "end"}
                >
                  {name}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
    </section>
  )
}

const Costs = ({
  costs,
  note,
  title
}: {
  readonly title: string
  readonly note: string
  readonly costs: ReadonlyArray<Cost>
}) => {
  const most = Math.max(0, ...costs.map(({ costUsd }) => costUsd))
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="dim">{note}</span>
      </header>
      <div class="body" role="group" aria-label={`${title}, scrollable`} tabIndex={0}>
        {costs.length === 0 ? (
          <p class="dim">Nothing is recorded yet.</p>
        ) : (
          <table class="table">
            <caption class="unseen">{title}</caption>
            <Head
              columns={[
                "Name",
                [<span class="unseen">Share of the largest</span>, "meter-cell"],
                ["Runs", "right"],
                ["Cost", "right"]
              ]}
            />
            <tbody>
              {costs.slice(0, 12).map(({ costUsd, name, runs }) => (
                <tr key={name}>
                  <th scope="row">{Format.oneLine(name, 50)}</th>
                  <td class="meter-cell">
                    <Meter share={most === 0 ? 0 : costUsd / most} />
                  </td>
                  <td class="right">{Format.whole(runs)}</td>
                  <td class="right">
                    <Money usd={costUsd} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  )
}

/** Renders a fraction as a bar. A full bar is highlighted. */
const Meter = ({ isFull = false, share }: { readonly share: number; readonly isFull?: boolean }) => (
  <svg class="meter" width="100%" height="8" aria-hidden="true">
    <rect class="meter-ground" width="100%" height="8" rx="4" />
    <rect
      class={isFull ? "meter-full" : "meter-bar"}
      width={`${100 * Math.min(1, Math.max(0, share))}%`}
      height="8"
      rx="4"
    />
  </svg>
)

const Budget = ({ limit, spent }: { readonly limit: number | undefined; readonly spent: number }) => (
  <td class="budget">
    {limit !== undefined && <Meter share={limit === 0 ? 1 : spent / limit} isFull={spent >= limit} />}
    <span class={limit !== undefined && spent >= limit ? "tone-failed" : ""}>
      <Money usd={spent} />
      {limit !== undefined && ` of ${Format.money(limit)}`}
    </span>
  </td>
)

const keyStates = {
  valid: { state: "answered", word: "Valid" },
  expired: { state: "stopped", word: "Expired" },
  revoked: { state: "refused", word: "Revoked" },
  damaged: { state: "damaged", word: "Damaged" }
} as const

const rateText = ({ limits }: Operations.Key): string =>
  [
    limits.requests_per_minute === undefined ? undefined : `${Format.whole(limits.requests_per_minute)} requests/min`,
    limits.tokens_per_minute === undefined ? undefined : `${Format.tokens(limits.tokens_per_minute)} tokens/min`
  ]
    .filter((text) => text !== undefined)
    .join(", ")

const KeysTable = ({ keys }: { readonly keys: ReadonlyArray<Operations.Key> }) => (
  <section class="card" aria-label="Keys and budgets">
    <header>
      <h2>Keys and budgets</h2>
      <span class="dim">spent of the limit; days and months in UTC</span>
    </header>
    <div class="body" role="group" aria-label="Keys and budgets, scrollable" tabIndex={0}>
      {keys.length === 0 ? (
        <p class="dim">
          There is no key: only programs on this machine are answered. Make one with <code>divisi key make NAME</code>.
        </p>
      ) : (
        <table class="table">
          <caption class="unseen">Keys with their budgets</caption>
          <Head columns={["Key", "State", "Today", "This month", "In all", "Rate limit", "Rights"]} />
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <th scope="row">
                  {Format.oneLine(key.name, 40)} <code class="dim">{key.id}</code>
                </th>
                <td>
                  <State {...keyStates[key.state]} />
                  {key.state === "valid" && key.expires_at !== null && (
                    <span class="dim"> until {Format.exactly(key.expires_at)}</span>
                  )}
                </td>
                <Budget spent={key.spent.day_usd} limit={key.limits.day_usd} />
                <Budget spent={key.spent.month_usd} limit={key.limits.month_usd} />
                <Budget spent={key.spent.total_usd} limit={key.limits.total_usd} />
                <td>{rateText(key)}</td>
                <td>{key.rights.length === 0 ? "" : Format.oneLine(key.rights.join(", "), 60)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  </section>
)

const Vendors = ({ metrics, operations }: Read) => {
  const failed = [...Operating.sumBy(metrics, "divisi_failed_steps_total", "worker")].sort(
    ([, one], [, other]) => other - one
  )
  const reasonsOf = (worker: string) =>
    [
      ...Operating.sumBy(
        metrics.filter(({ labels }) => labels.worker === worker),
        "divisi_failed_steps_total",
        "reason"
      )
    ]
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", ")
  return (
    <section class="card" aria-label="Vendors">
      <header>
        <h2>Vendors</h2>
        <span class="dim">since the start of the server</span>
      </header>
      <div class="body" role="group" aria-label="Vendors, scrollable" tabIndex={0}>
        {operations.closed.map(({ because, provider, until }) => (
          <p key={provider} class="notice warn">
            <State state="waiting" word={because === "failing" ? "Failing" : "Rate limit reached"} />
            {Format.oneLine(provider, 60)}: no call before {Format.exactly(until)}.
          </p>
        ))}
        {operations.closed.length === 0 && <State state="answered" word="No vendor is paused" />}
        {failed.length === 0 ? (
          <p class="dim">No call has failed permanently.</p>
        ) : (
          <table class="table">
            <caption class="unseen">Calls that failed permanently, by worker</caption>
            <Head columns={["Worker", "Reasons", ["Failed permanently", "right"]]} />
            <tbody>
              {failed.slice(0, 12).map(([worker, count]) => (
                <tr key={worker}>
                  <th scope="row">{Format.oneLine(worker, 50)}</th>
                  <td>{Format.oneLine(reasonsOf(worker), 100)}</td>
                  <td class="right">{Format.whole(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  )
}

const machineStates = {
  healthy: { state: "answered", word: "Healthy" },
  draining: { state: "stopped", word: "Draining" },
  unreachable: { state: "failed", word: "Unreachable" }
} as const

const Machines = ({ machines }: { readonly machines: ReadonlyArray<Operations.Machine> }) => (
  <section class="card" aria-label="Machines">
    <header>
      <h2>Machines</h2>
      <span class="dim">servers and processes that share the database</span>
    </header>
    <div class="body" role="group" aria-label="Machines, scrollable" tabIndex={0}>
      {machines.length === 0 ? (
        <p class="dim">No run is in progress on any machine.</p>
      ) : (
        <table class="table">
          <caption class="unseen">Machines</caption>
          <Head columns={["Machine", "State", ["Runs in progress", "right"], ["Last report", "right"]]} />
          <tbody>
            {machines.map(({ name, runs, seen_millis, state }) => (
              <tr key={name}>
                <th scope="row">{Format.oneLine(name, 80)}</th>
                <td>
                  <State {...machineStates[state]} />
                </td>
                <td class="right">{runs === null ? "" : Format.whole(runs)}</td>
                <td class="right">{seen_millis === null ? "" : `${Format.duration(seen_millis)} ago`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  </section>
)

const View = ({
  read,
  runs,
  transcripts
}: {
  readonly read: Read
  readonly runs: ReadonlyArray<Summary> | undefined
  readonly transcripts: ReadonlyArray<Transcript.Transcript>
}) => {
  const { metrics, operations } = read
  const list = runs ?? []
  const byStatus = Operating.sumBy(metrics, "divisi_requests_total", "status")
  const requests = [...byStatus.values()].reduce((sum, count) => sum + count, 0)
  const refused = [...byStatus].reduce((sum, [status, count]) => (Number(status) >= 400 ? sum + count : sum), 0)
  const waiting = list.filter(({ state }) => state === "waiting" || state === "suspended").length
  const spent = (operations.keys ?? []).filter(
    ({ limits, spent, state }) =>
      state === "valid" &&
      ((limits.day_usd !== undefined && spent.day_usd >= limits.day_usd) ||
        (limits.month_usd !== undefined && spent.month_usd >= limits.month_usd) ||
        (limits.total_usd !== undefined && spent.total_usd >= limits.total_usd))
  ).length
  const problems = [
    operations.closed.length > 0 &&
      `${operations.closed.length} ${operations.closed.length === 1 ? "vendor takes" : "vendors take"} no calls`,
    spent > 0 && `${spent} ${spent === 1 ? "key is" : "keys are"} at a limit`,
    operations.machines?.some(({ state }) => state === "unreachable") === true && "a machine is unreachable"
  ].filter((text) => text !== false)
  const words = problems.join(", ")
  return (
    <div class="sheet">
      <div class="lede-row">
        <div class="lede grow">
          <h1>
            {operations.status === "draining"
              ? "The server is shutting down"
              : words === ""
                ? "No vendor is paused, and no key is at its limit"
                : `${words[0]!.toUpperCase()}${words.slice(1)}`}
          </h1>
          <p>
            {Format.counted(requests, "request")} since the start of this server, {Format.whole(refused)} of them with
            an error.
          </p>
        </div>
        <dl class="stats">
          <Stat name="Running" note="runs of this server">
            {Format.whole(operations.running)}
          </Stat>
          <Stat name="Suspended" note="wait for a person or a client">
            {Format.whole(waiting)}
          </Stat>
          <Stat name="Request bodies" note="of requests in flight">
            {Format.tokens(operations.bytes_in_flight)} B
          </Stat>
          <Stat
            name="Tokens"
            note={`${Format.tokens(Operating.sumOf(metrics, "divisi_input_tokens_total"))} in, ${Format.tokens(Operating.sumOf(metrics, "divisi_output_tokens_total"))} out`}
          >
            {Format.tokens(
              Operating.sumOf(metrics, "divisi_input_tokens_total") +
                Operating.sumOf(metrics, "divisi_output_tokens_total")
            )}
          </Stat>
        </dl>
      </div>
      {operations.keys !== null && <KeysTable keys={operations.keys} />}
      {runs === undefined ? <Skeleton rows={4} /> : <Days costs={Operating.byDay(list, Date.now())} />}
      <div class="columns">
        <Costs
          title="Cost by key"
          note="of the stored runs"
          costs={named(Operating.byKey(list), operations.keys ?? [])}
        />
        <Costs
          title="Cost by worker"
          note={transcripts.length === 1 ? "of the newest run" : `of the newest ${transcripts.length} runs`}
          costs={Operating.byWorker(transcripts)}
        />
      </div>
      <div class="columns">
        <Vendors {...read} />
        {operations.machines !== null && <Machines machines={operations.machines} />}
      </div>
    </div>
  )
}

/** Replaces key ids with key names. */
const named = (costs: ReadonlyArray<Cost>, keys: ReadonlyArray<Operations.Key>): ReadonlyArray<Cost> =>
  costs.map((cost) => {
    const key = keys.find(({ id }) => id === cost.name)
    return key === undefined ? cost : { ...cost, name: `${key.name} (${key.id})` }
  })

/** Renders the page. */
export const OperatePage = () => {
  const { error, read, retry, runs, transcripts } = useOperations()
  return (
    <div>
      <header class="bar">
        <h1>Operate</h1>
        {read !== undefined && (
          <State
            state={read.operations.status === "ok" ? "answered" : "stopped"}
            word={read.operations.status === "ok" ? "Ready" : "Draining"}
          />
        )}
        <span class="grow" />
        {read !== undefined && error !== undefined && (
          <span class="tone-waiting">{Format.oneLine(error.message, 100)}</span>
        )}
      </header>
      {read !== undefined ? (
        <View read={read} runs={runs} transcripts={transcripts} />
      ) : error === undefined ? (
        <Skeleton rows={12} />
      ) : (
        <Failed isPart error={error} retry={retry} />
      )}
    </div>
  )
}

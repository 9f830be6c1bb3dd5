/** @jsxImportSource preact */
/** The page with the list of runs: updated live, with search, filters, sorting, and virtualized rows. */
import { computed, signal, useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import * as Format from "../run/Format.ts"
import type { Bar, Summary } from "../run/Summary.ts"
import { Icon, lookOf, Mark } from "./Icons.tsx"
import { keys } from "./Keys.ts"
import { Empty, Failed, Money, Skeleton } from "./Parts.tsx"
import { go, href, place, replace } from "./Router.ts"
import { error, isRunning, isUnanswered, isWaiting, millisOf, runs, totals } from "./RunList.ts"

/** The filters and the order of the list: the query of its address. They remain while other pages are open. */
const filters = signal(new URLSearchParams())

const filter = (name: string): string => filters.value.get(name) ?? ""

/** Changes filters, also in the address. An empty text removes one. */
const setFilters = (changes: Readonly<Record<string, string>>, from = filters.peek()): void => {
  const given = Object.entries({ ...Object.fromEntries(from), ...changes }).filter(([, text]) => text !== "")
  filters.value = new URLSearchParams(given)
  replace(href(["runs"], Object.fromEntries(given)))
}

/** The lists that have a button, by their names in the address. */
const kinds = new Map([
  ["waiting", isWaiting],
  ["unanswered", isUnanswered],
  ["running", isRunning]
])

/** The runs selected for comparison, two at most. */
const picked = signal<ReadonlyArray<string>>([])

const pick = (id: string): void => {
  const rest = picked.peek().filter((one) => one !== id)
  picked.value = rest.length < picked.peek().length ? rest : [...rest, id].slice(-2)
}

const compare = (): void => {
  const [a, b] = picked.peek()
  if (a !== undefined && b !== undefined) go(href(["compare"], { a, b }))
}

const urgency = (run: Summary): number =>
  isRunning(run) ? 3 : isWaiting(run) ? 2 : run.state === "failed" || run.state === "damaged" ? 1 : 0

const has = ({ fork_of = "", id, policy, question, workers }: Summary, words: string): boolean =>
  `${question ?? ""}\n${policy}\n${workers.join("\n")}\n${id}\n${fork_of}`.toLowerCase().includes(words)

/** Whether some runs have timing bars. Runs of a server have none. */
const hasBars = computed(() => (runs.value ?? []).some(({ bars }) => bars !== undefined))

/** Whether the tokens of all runs are known, except those of damaged records. */
const hasTokens = computed(() =>
  (runs.value ?? []).every(({ damaged, tokens }) => tokens !== undefined || damaged !== undefined)
)

const shown = computed(() => {
  const words = filter("text").trim().toLowerCase()
  const [policy, worker, state, owner] = ["policy", "worker", "ending", "key"].map(filter)
  // A text that is not a number filters nothing.
  const [maxAge, minCost, minMillis] = ["started", "cost", "time"].map((name) => Number(filter(name)) || 0)
  const isShown = kinds.get(filter("show")) ?? (() => true)
  const now = Date.now()
  const found = (runs.value ?? []).filter(
    (run) =>
      isShown(run) &&
      (policy === "" || run.policy === policy) &&
      (worker === "" || run.workers.includes(worker!)) &&
      (state === "" || run.state === state) &&
      (owner === "" || run.owner === owner) &&
      (maxAge === 0 || now - run.started_at <= maxAge!) &&
      run.cost_usd >= minCost! &&
      (minMillis === 0 || millisOf(run, now) >= minMillis!) &&
      (words === "" || has(run, words))
  )
  const order = filter("sort")
  const key = (run: Summary): number =>
    order === "cost"
      ? run.cost_usd
      : order === "time"
        ? millisOf(run, now)
        : order === "tokens"
          ? hasTokens.value
            ? (run.tokens ?? 0)
            : run.calls
          : run.started_at
  const isUrgentFirst = filter("first") !== ""
  return found.sort((one, other) => (isUrgentFirst ? urgency(other) - urgency(one) : 0) || key(other) - key(one))
})

const Bars = ({ bars }: { readonly bars: ReadonlyArray<Bar> }) => {
  const height = Math.min(4, 16 / Math.max(1, bars.length))
  return (
    <svg class="bars" width="116" height="16" viewBox="0 0 116 16" aria-hidden="true">
      {bars.map(({ from, state, to }, index) => (
        <rect
          key={index}
          class={`bar-${state}`}
          // A bar is at least 2 wide, also at the end.
          x={Math.min(from * 116, 114)}
          y={bars.length === 1 ? 6 : index * (16 / bars.length)}
          width={Math.max(2, (to - from) * 116)}
          height={height - 0.5}
          rx="1"
        />
      ))}
    </svg>
  )
}

const rowHeight = () => (matchMedia("(max-width: 720px)").matches ? 56 : 28)

/** The state of a run, or the decision or result that it needs, without the id of the call. */
const stateText = (run: Summary): string => {
  const [call] = run.waits_for
  if (!isWaiting(run) || call === undefined) return lookOf(run.state).word
  const name = call.replace(/ \([^()]*\)$/, "")
  return call.endsWith(", needs approval)") ? `Approve ${name}` : `Result of ${name}`
}

const workersText = ({ workers }: Summary): string =>
  workers.length === 0 ? "none" : workers.length === 1 ? workers[0]! : `${workers[0]} + ${workers.length - 1}`

const Row = ({
  index,
  isSelected,
  now,
  run
}: {
  readonly run: Summary
  readonly index: number
  readonly isSelected: boolean
  readonly now: number
}) => {
  const kind = isRunning(run) ? "live" : isWaiting(run) ? "waiting" : ""
  const question = run.damaged ?? (run.question === null ? "(not stored)" : Format.oneLine(run.question, 200))
  return (
    <div role="row" class={`run-row ${kind} ${isSelected ? "selected" : ""}`} aria-rowindex={index + 2}>
      <span role="cell" class="c-state">
        <button
          type="button"
          class="pick"
          aria-pressed={picked.value.includes(run.id)}
          aria-label={`${stateText(run)}. Select for a comparison`}
          title="Select for a comparison"
          tabIndex={isSelected ? 0 : -1}
          onClick={() => pick(run.id)}
        >
          {picked.value.includes(run.id) ? (
            <span class="letter">{picked.value[0] === run.id ? "A" : "B"}</span>
          ) : (
            <Mark state={run.state} />
          )}
        </button>
      </span>
      <span role="cell" class="c-question">
        {run.fork_of !== undefined && (
          <span class="fork" title={`Fork of ${Format.runId(run.fork_of)}`}>
            <Icon name="fork" size={13} />
            <span class="unseen">Fork of {Format.runId(run.fork_of)}: </span>
          </span>
        )}
        <a class="row-link" href={href(["runs", run.id])} tabIndex={isSelected ? 0 : -1}>
          {question === "" ? "(no text)" : question}
        </a>
      </span>
      <span role="cell" class="c-plan">
        {isWaiting(run) ? (
          <span class="tone-waiting clip">{stateText(run)}</span>
        ) : run.bars === undefined ? (
          <span class="dim">{lookOf(run.state).word}</span>
        ) : run.bars.length === 0 ? (
          <span class="dim">no plan</span>
        ) : (
          <Bars bars={run.bars} />
        )}
      </span>
      <span role="cell" class="c-policy">
        {Format.oneLine(run.policy, 60)}
      </span>
      <span role="cell" class="c-workers">
        {Format.oneLine(workersText(run), 60)}
      </span>
      <span role="cell" class="c-cost">
        <Money usd={run.cost_usd} isPlay={run.is_play === true} isPartial={run.is_unpriced === true} />
      </span>
      <span role="cell" class="c-time">
        {Format.duration(millisOf(run, now))}
      </span>
      <span role="cell" class="c-tokens">
        {hasTokens.value ? Format.tokens(run.tokens ?? 0) : Format.whole(run.calls)}
      </span>
      <span role="cell" class="c-when">
        {Format.when(run.started_at, now)}
      </span>
    </div>
  )
}

const Head = ({
  children,
  column,
  name
}: {
  /** The order in the address; empty for the default. */
  readonly name: string
  readonly column: string
  readonly children: string
}) => (
  <span role="columnheader" class={column} aria-sort={filter("sort") === name ? "descending" : "none"}>
    <button type="button" class="sort" onClick={() => setFilters({ sort: name })}>
      {children}
      {filter("sort") === name && <span aria-hidden="true"> ↓</span>}
    </button>
  </span>
)

const List = () => {
  const holder = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(800)
  /** Id of the selected run, so that new runs do not move the selection. By default, the first run is selected. */
  const selected = useSignal<string | undefined>(undefined)
  const hasFocus = useRef(false)
  const now = useSignal(Date.now())
  const list = shown.value
  const selectedIn = (list: ReadonlyArray<Summary>): number =>
    Math.max(
      0,
      list.findIndex(({ id }) => id === selected.peek())
    )
  // A focused row that is no longer rendered passes the focus to the list.
  useLayoutEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) holder.current?.focus({ preventScroll: true })
  })
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1_000)
    const observer = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? 800
    })
    if (holder.current !== null) observer.observe(holder.current)
    const hear = ({ target }: Event) => {
      hasFocus.current = holder.current?.contains(target as Node) === true
    }
    for (const name of ["focusin", "pointerdown"]) document.addEventListener(name, hear)
    return () => {
      clearInterval(timer)
      observer.disconnect()
      for (const name of ["focusin", "pointerdown"]) document.removeEventListener(name, hear)
    }
  }, [])
  const move = (by: number) => {
    const next = Math.min(shown.peek().length - 1, Math.max(0, selectedIn(shown.peek()) + by))
    selected.value = shown.peek()[next]?.id
    const element = holder.current
    if (element === null) return
    const at = next * rowHeight()
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + rowHeight() > element.scrollTop + element.clientHeight)
      element.scrollTop = at + rowHeight() - element.clientHeight
  }
  useEffect(
    () =>
      keys({
        j: () => move(1),
        k: () => move(-1),
        ArrowDown: () => move(1),
        ArrowUp: () => move(-1),
        x: () => {
          const run = shown.peek()[selectedIn(shown.peek())]
          if (run !== undefined) pick(run.id)
        },
        c: compare,
        Enter: () => {
          const run = shown.peek()[selectedIn(shown.peek())]
          if (run !== undefined) go(href(["runs", run.id]))
        }
      }),
    []
  )
  const row = rowHeight()
  const at = selected.value === undefined ? 0 : selectedIn(list)
  const first = Math.max(0, Math.floor(top.value / row) - 8)
  const last = Math.min(list.length, Math.ceil((top.value + height.value) / row) + 8)
  return (
    <div class="runs-table" role="table" aria-label="Runs" aria-rowcount={list.length + 1}>
      <div role="rowgroup" class="rows-head">
        <div role="row" class="run-row head" aria-rowindex={1}>
          <span role="columnheader" class="c-state">
            <span class="unseen">State</span>
          </span>
          <span role="columnheader" class="c-question">
            Question
          </span>
          <span role="columnheader" class="c-plan">
            {hasTokens.value ? "Plan" : hasBars.value ? "Plan or state" : "State"}
          </span>
          <span role="columnheader" class="c-policy">
            Policy
          </span>
          <span role="columnheader" class="c-workers">
            Workers
          </span>
          <Head column="c-cost" name="cost">
            Cost
          </Head>
          <Head column="c-time" name="time">
            Time
          </Head>
          <Head column="c-tokens" name="tokens">
            {hasTokens.value ? "Tokens" : "Calls"}
          </Head>
          <Head column="c-when" name="">
            Started
          </Head>
        </div>
      </div>
      <div
        class="rows"
        role="rowgroup"
        ref={holder}
        tabIndex={0}
        aria-label="Rows of runs"
        onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
      >
        <div
          class="rows-whole"
          role="presentation"
          ref={(element) => element?.style.setProperty("height", `${list.length * row}px`)}
        >
          <div
            class="rows-window"
            role="presentation"
            ref={(element) => element?.style.setProperty("transform", `translateY(${first * row}px)`)}
          >
            {list.slice(first, last).map((run, index) => (
              <Row key={run.id} run={run} index={first + index} isSelected={at === first + index} now={now.value} />
            ))}
          </div>
        </div>
      </div>
    </div>
  )
}

const Choice = ({
  label,
  name,
  options,
  title = label
}: {
  /** Name of the filter in the address. */
  readonly name: string
  readonly label: string
  /** Text of the option that filters nothing. */
  readonly title?: string
  readonly options: ReadonlyArray<readonly [value: string, text: string]>
}) => {
  const value = filter(name)
  // A value from an address may not be in the list.
  const isListed = value === "" || options.some(([one]) => one === value)
  const all: ReadonlyArray<readonly [string, string]> = [
    ["", title],
    ...options,
    ...(isListed ? [] : optionsOf([value]))
  ]
  return (
    <label class={`choice ${value === "" ? "" : "on"}`}>
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => setFilters({ [name]: event.currentTarget.value })}>
        {all.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const Chip = ({
  count,
  name,
  state,
  text
}: {
  /** Name in the address; empty for all runs. */
  readonly name: string
  readonly text: string
  readonly count: number
  readonly state?: string
}) => (
  <button
    type="button"
    class={`chip ${filter("show") === name ? "on" : ""}`}
    aria-pressed={filter("show") === name}
    onClick={() => setFilters({ show: name })}
  >
    {state !== undefined && <Mark state={state} size={13} />}
    {text} {Format.whole(count)}
  </button>
)

/** Number of columns in the activity strip. */
const columns = 56

/** Number of runs started in each column, with and without an answer. */
const activity = computed(() => {
  const list = runs.value ?? []
  let first = Number.POSITIVE_INFINITY
  let last = 0
  for (const { started_at } of list) {
    first = Math.min(first, started_at)
    last = Math.max(last, started_at)
  }
  const span = Math.max(1, last - first)
  const good = new Array<number>(columns).fill(0)
  const bad = new Array<number>(columns).fill(0)
  for (const run of list) {
    const at = Math.min(columns - 1, Math.floor(((run.started_at - first) / span) * columns))
    const counts = isUnanswered(run) ? bad : good
    counts[at] = counts[at]! + 1
  }
  return { count: list.length, span, good, bad }
})

const Activity = () => {
  const { bad, count, good, span } = activity.value
  if (count < 2) return null
  const most = Math.max(1, ...good.map((count, at) => count + bad[at]!))
  return (
    <svg
      class="activity"
      viewBox={`0 0 ${columns * 20} 32`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Runs over ${Format.duration(span)}: ${count}, ${totals.value.unanswered} without an answer`}
    >
      {good.map((count, at) => {
        const high = (count / most) * 28
        const low = (bad[at]! / most) * 28
        return (
          <g key={at}>
            <path class="zero" d={`M${at * 20 + 3} 31.5h14`} />
            {high > 0 && <rect class="good" x={at * 20 + 3} y={31 - high} width="14" height={high} rx="1.5" />}
            {low > 0 && (
              <rect
                class="bad"
                x={at * 20 + 3}
                y={31 - high - low - (high > 0 ? 1 : 0)}
                width="14"
                height={low}
                rx="1.5"
              />
            )}
          </g>
        )
      })}
    </svg>
  )
}

const optionsOf = (values: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  values.slice(0, 200).map((value) => [value, Format.oneLine(value, 40)])

/** Renders the list. */
export const RunsPage = ({ retry }: { readonly retry: () => void }) => {
  const input = useRef<HTMLInputElement>(null)
  const { query } = place.value
  useLayoutEffect(() => {
    if (query.size === 0 && filters.peek().size > 0) setFilters({})
    else if (`${query}` !== `${filters.peek()}`) filters.value = query
  }, [query])
  useEffect(() => keys({ "/": () => input.current?.focus(), Escape: () => input.current?.blur() }), [])
  const isUrgentFirst = filter("first") !== ""
  const all = runs.value
  const { costUsd, owners, playUsd, policies, running, states, unanswered, waiting, workers } = totals.value
  return (
    <div class="page-list">
      <header class="bar">
        <h1>Runs</h1>
        {all !== undefined && <span class="dim">{Format.whole(all.length)} in all</span>}
        <span class="grow" />
        {picked.value.length > 0 && (
          <button type="button" class="button primary" disabled={picked.value.length < 2} onClick={compare}>
            {picked.value.length < 2 ? "Select a second run" : "Compare the two"}
          </button>
        )}
        <button
          type="button"
          class={`button quiet ${isUrgentFirst ? "on" : ""}`}
          aria-pressed={isUrgentFirst}
          onClick={() => setFilters({ first: isUrgentFirst ? "" : "urgent" })}
        >
          Needs you and failures first
        </button>
      </header>
      <div class="tools">
        <label class="field">
          <Icon name="search" size={14} />
          <span class="unseen">Search questions, policies, workers and ids</span>
          <input
            ref={input}
            type="search"
            placeholder="Search runs"
            value={filter("text")}
            onInput={(event) => setFilters({ text: event.currentTarget.value })}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <Chip name="" text="All" count={all?.length ?? 0} />
        <Chip name="waiting" text="Needs you" state="waiting" count={waiting} />
        <Chip name="unanswered" text="No answer" state="failed" count={unanswered} />
        <Chip name="running" text="Running" state="running" count={running} />
        <span class="grow" />
        <Choice label="Policy" name="policy" options={optionsOf(policies)} />
        <Choice label="Worker" name="worker" options={optionsOf(workers)} />
        <Choice label="Ending" name="ending" options={states.map((name) => [name, lookOf(name).word])} />
        {(owners.length > 1 || filter("key") !== "") && <Choice label="Key" name="key" options={optionsOf(owners)} />}
        <Choice
          label="Started"
          name="started"
          options={[
            ["3600000", "last hour"],
            ["86400000", "last 24 h"],
            ["604800000", "last 7 d"],
            ["2592000000", "last 30 d"]
          ]}
        />
        <Choice
          label="Cost"
          name="cost"
          options={[
            ["0.001", "over $0.001"],
            ["0.01", "over $0.01"],
            ["0.1", "over $0.10"],
            ["1", "over $1.00"]
          ]}
        />
        <Choice
          label="Duration"
          title="Time"
          name="time"
          options={[
            ["1000", "over 1 s"],
            ["10000", "over 10 s"],
            ["60000", "over 1 min"]
          ]}
        />
      </div>
      {error.value !== undefined && all !== undefined && (
        <p class="notice warn" role="status">
          <Mark state="waiting" /> The list is not live: {error.value.message}
        </p>
      )}
      {all === undefined ? (
        error.value === undefined ? (
          <Skeleton rows={14} />
        ) : (
          <Failed isPart error={error.value} retry={retry} />
        )
      ) : all.length === 0 ? (
        <Empty title="No runs yet">
          <p>Runs appear here as they start. Make one that is stored:</p>
          <code class="command">divisi run "How many minutes are there in 3 days?" --durable</code>
        </Empty>
      ) : (
        <>
          <Activity />
          {shown.value.length === 0 ? (
            <Empty title="No run matches these filters">
              <button
                type="button"
                class="button"
                onClick={() => setFilters({ first: filter("first"), sort: filter("sort") }, new URLSearchParams())}
              >
                Clear the filters
              </button>
            </Empty>
          ) : (
            <List />
          )}
        </>
      )}
      <footer class="foot">
        <span>
          {Format.whole(shown.value.length)} of {Format.whole(all?.length ?? 0)}
        </span>
        <span>Spent {Format.money(costUsd)}</span>
        {playUsd > 0 && <span>Play money {Format.money(playUsd)}</span>}
        <span class="grow" />
        <span class="hints" aria-hidden="true">
          <kbd>J</kbd> <kbd>K</kbd> move <kbd>Enter</kbd> open <kbd>?</kbd> keys
        </span>
      </footer>
    </div>
  )
}

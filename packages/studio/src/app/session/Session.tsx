/** @jsxImportSource preact */
/** The page about the cost of a session: totals, workers, purposes, a comparison with one worker, and a timeline. */
import * as Format from "../../run/Format.ts"
import type { Line, Opened, Spending, Figures as Sums, Totals, WorkerFigures } from "../../session/Session.ts"
import * as Sessions from "../../session/Session.ts"
import type { Span } from "../../session/Spans.ts"
import { useData } from "../Data.ts"
import { lookOf, State } from "../Icons.tsx"
import { Empty, Failed, Money, Skeleton, Stat } from "../Parts.tsx"
import { href } from "../Router.ts"
import { type BarRow, Bars, Card, colourOf, type Figure, Figures, known } from "../Sheet.tsx"
import { mayHaveRuns } from "../Source.ts"

const purposeNames = {
  plan: "Plans",
  step: "Advising steps",
  answer: "Answering steps",
  judgement: "Checks and critics"
} as const

/** A part of the session: a worker, or a purpose. */
interface Part {
  readonly name: string
  readonly spend: Spending
}

const tokensOf = ({ usage: { inputTokens, outputTokens } }: Spending): number => inputTokens + outputTokens

const shareOf = (part: number, whole: number): string => (whole > 0 ? Format.share(part / whole) : "")

/** Returns bars of cost, play money, tokens and calls, each divided among the parts. Amounts of zero have no bar. */
const barsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<BarRow> =>
  (
    [
      ["Cost", ({ costUsd }) => costUsd, Format.money],
      ["Play money", ({ playUsd }) => playUsd, Format.money],
      ["Tokens", tokensOf, Format.tokens],
      ["Calls", ({ calls }) => calls, Format.whole]
    ] as const satisfies ReadonlyArray<readonly [string, (spend: Spending) => number, (value: number) => string]>
  ).flatMap(([name, of, show]) => {
    const whole = parts.reduce((sum, { spend }) => sum + of(spend), 0)
    if (whole === 0) return []
    return [
      { name, value: show(whole), shares: parts.map((part) => ({ name: part.name, share: of(part.spend) / whole })) }
    ]
  })

/** Columns of the cost, its shares and the play money. A kind of money that was not spent is omitted. */
const moneyColumns = <A extends { readonly spend: Spending }>({
  costUsd,
  playUsd
}: Spending): ReadonlyArray<Figure<A>> => [
  ...(costUsd > 0 || playUsd === 0
    ? ([
        ["Cost", ({ spend }) => <Money usd={spend.costUsd} />],
        ["Share", ({ spend }) => shareOf(spend.costUsd, costUsd)]
      ] as const satisfies ReadonlyArray<Figure<A>>)
    : []),
  ...(playUsd > 0
    ? ([["Play money", ({ spend }) => <Money usd={spend.playUsd} isPlay />]] as const satisfies ReadonlyArray<
        Figure<A>
      >)
    : [])
]

/** Amounts in dollars, in play money, or both. */
const Amounts = ({ costUsd, playUsd }: Pick<Spending, "costUsd" | "playUsd">) => (
  <>
    {(costUsd > 0 || playUsd === 0) && <Money usd={costUsd} />}
    {costUsd > 0 && playUsd > 0 && " and "}
    {playUsd > 0 && <Money usd={playUsd} isPlay />}
  </>
)

/** A column of counts. It is omitted if all counts are zero. */
const counts = (
  head: string,
  workers: ReadonlyArray<WorkerFigures>,
  of: (worker: WorkerFigures) => number
): ReadonlyArray<Figure<WorkerFigures>> =>
  workers.some((worker) => of(worker) > 0) ? [[head, (worker) => Format.whole(of(worker))]] : []

const Workers = ({ figures: { spend, workers } }: { readonly figures: Sums }) => {
  const parts = workers.map(({ id, spend }) => ({ name: id, spend }))
  return (
    <Card title="Workers" note="share of each worker">
      <Bars caption="Share of each worker" names={parts.map(({ name }) => name)} rows={barsOf(parts)} />
      <Figures
        caption="Workers"
        items={workers}
        columns={[
          ["Worker", ({ id }) => Format.oneLine(id, 32)],
          ...moneyColumns<WorkerFigures>(spend),
          ["Calls", ({ spend: { calls } }) => Format.whole(calls)],
          ...Sessions.purposes.flatMap((purpose) =>
            counts(purposeNames[purpose], workers, ({ calls }) => calls[purpose])
          ),
          ...counts("Failed or stopped", workers, ({ lostCalls }) => lostCalls),
          ...counts("Tool calls", workers, ({ toolCalls }) => toolCalls),
          ["Tokens in", ({ spend: { usage } }) => Format.whole(usage.inputTokens)],
          ...counts("of them cached", workers, ({ spend: { usage } }) => usage.cachedInputTokens ?? 0),
          ["Tokens out", ({ spend: { usage } }) => Format.whole(usage.outputTokens)],
          ...counts("of them reasoning", workers, ({ spend: { usage } }) => usage.reasoningTokens ?? 0)
        ]}
      />
    </Card>
  )
}

const Purposes = ({ figures }: { readonly figures: Sums }) => {
  const parts = Sessions.purposes.map((purpose) => ({ name: purposeNames[purpose], spend: figures.purposes[purpose] }))
  return (
    <Card title="Purpose" note="everything except the answering steps is orchestration">
      <Bars caption="Share of each purpose" names={parts.map(({ name }) => name)} rows={barsOf(parts)} />
      <Figures
        caption="Purpose of calls"
        items={parts}
        columns={[
          ["Purpose", ({ name }) => name],
          ...moneyColumns<Part>(figures.spend),
          ["Calls", ({ spend: { calls } }) => Format.whole(calls)],
          ["Tokens in", ({ spend: { usage } }) => Format.whole(usage.inputTokens)],
          ["Tokens out", ({ spend: { usage } }) => Format.whole(usage.outputTokens)]
        ]}
      />
    </Card>
  )
}

interface Compared {
  readonly name: string
  readonly costUsd: number
  /** Totals, if the work was measured. */
  readonly of?: Totals
}

const Comparison = ({ figures, pricing }: Pick<Opened, "figures" | "pricing">) => {
  const { against, alone, spend } = figures
  if (against === undefined && alone === undefined) return null
  const isPlay = spend.costUsd === 0
  const costOf = ({ costUsd, playUsd }: Spending) => (isPlay ? playUsd : costUsd)
  const own = costOf(spend)
  const rows: ReadonlyArray<Compared> = [
    { name: "This session", costUsd: own, of: figures },
    ...(alone === undefined ? [] : [{ name: "One worker, measured", costUsd: costOf(alone.spend), of: alone }]),
    ...(against === undefined
      ? []
      : [
          { name: "Estimated: answers at its price", costUsd: against.answersUsd },
          { name: "Estimated: all tokens at its price", costUsd: against.allUsd }
        ])
  ]
  return (
    <Card title="Compared with one strong worker">
      <Figures
        caption="The session compared with one worker"
        items={rows}
        columns={[
          ["", ({ name }) => name],
          ["Cost", ({ costUsd, of }) => <Money usd={costUsd} isPlay={isPlay && of !== undefined} />],
          ["Of this session", ({ costUsd }) => (own > 0 ? Format.ratio(costUsd / own) : "")],
          ["Calls", ({ of }) => (of === undefined ? "" : Format.whole(of.spend.calls))],
          ["Tokens", ({ of }) => (of === undefined ? "" : Format.whole(tokensOf(of.spend)))],
          ["Workers active", ({ of }) => (of === undefined ? "" : Format.duration(of.workedMillis))]
        ]}
      />
      {alone !== undefined && <p class="dim">Measured: the same work, repeated by one worker alone.</p>}
      {against !== undefined && pricing !== undefined && (
        <p class="dim">
          Estimated, not measured: the tokens of the answering steps, and all tokens, at the price of{" "}
          {Format.oneLine(against.worker, 60)} ({Format.money(pricing.inputPerMillion)} per million tokens in,{" "}
          {Format.money(pricing.outputPerMillion)} out). That worker might have written more or less, needed other
          turns, and answered better or worse. The answering steps also read the advice of other workers.
        </p>
      )}
    </Card>
  )
}

/** Minimum visible width of a span, as a fraction of the timeline. */
const minWidth = 0.003

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`

const laneHeight = 18

const Strip = ({
  from,
  lanes,
  millis,
  workers
}: {
  readonly from: number
  readonly millis: number
  readonly lanes: Line["lanes"]
  readonly workers: ReadonlyArray<string>
}) => {
  const place = (span: Span) => ({
    x: percent((span.from - from) / millis),
    width: percent(Math.max(minWidth, (span.to - span.from) / millis))
  })
  const height = Math.max(1, laneHeight / Math.max(1, lanes.length) - 0.5)
  return (
    <svg class="strip-svg" width="100%" height={laneHeight + 2} aria-hidden="true">
      {lanes.flatMap((lane, index) =>
        lane.map((span, at) => (
          <rect
            key={`${index}.${at}`}
            class={span.worker === undefined ? "tool-span" : `share ${colourOf(workers.indexOf(span.worker))}`}
            y={1 + (laneHeight * index) / lanes.length}
            height={height}
            {...place(span)}
          >
            <title>
              {span.worker === undefined ? "tools" : Format.oneLine(span.worker, 60)}:{" "}
              {Format.duration(span.to - span.from)}
            </title>
          </rect>
        ))
      )}
    </svg>
  )
}

const Question = ({ line: { id, question } }: { readonly line: Line }) => {
  const words = question === "" ? "(no words)" : Format.oneLine(question, 60)
  return mayHaveRuns() ? (
    <a class="link" href={href(["runs", id])}>
      {words}
    </a>
  ) : (
    words
  )
}

const Timeline = ({ figures, runs }: Pick<Opened, "figures" | "runs">) => {
  const { from, to } = figures
  const millis = Math.max(1, to - from)
  const workers = figures.workers.map(({ id }) => id)
  const rest = figures.runs - runs.length
  const note = rest === 0 ? undefined : `the ${runs.length} most expensive runs; ${Format.whole(rest)} cost less`
  return (
    <Card title="Timeline" {...(note !== undefined && { note })}>
      <ol class="legend wraps" aria-hidden="true">
        {workers.map((id, index) => (
          <li key={id}>
            <i class={`swatch share ${colourOf(index)}`} /> {Format.oneLine(id, 40)}
          </li>
        ))}
        <li>
          <i class="swatch tool-span" /> tools, and waiting for them
        </li>
      </ol>
      <table class="table forest timeline">
        <caption class="unseen">Timeline of the runs. All figures are in the table below.</caption>
        <tbody>
          <tr aria-hidden="true">
            <td />
            <td class="strip">
              <svg class="strip-svg" width="100%" height="16">
                {[0, 0.25, 0.5, 0.75, 1].map((share) => (
                  <text
                    key={share}
                    class="tick"
                    x={percent(share)}
                    y="12"
                    text-anchor={share === 0 ? "start" : share === 1 ? "end" : "middle"}
                  >
                    {Format.duration(share * millis)}
                  </text>
                ))}
              </svg>
            </td>
            <td />
          </tr>
          {runs.map((line) => (
            <tr key={line.id}>
              <th scope="row" class="clip">
                <Question line={line} />
              </th>
              <td class="strip">
                <Strip from={from} millis={millis} lanes={line.lanes} workers={workers} />
              </td>
              <td class="right">
                <Amounts {...line} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>As table</summary>
        <Figures
          caption="The runs of the session"
          items={runs}
          columns={[
            ["Question", (line) => <Question line={line} />],
            ["Started after", ({ startedAt }) => Format.duration(startedAt - from)],
            ["Time", ({ millis }) => Format.duration(millis)],
            ["State", ({ ending }) => <State state={ending === "unfinished" ? "running" : ending} />, ""],
            ["Policy", ({ policy }) => Format.oneLine(policy, 40), ""],
            ["Steps", ({ steps }) => Format.whole(steps)],
            ["Calls", ({ calls }) => Format.whole(calls)],
            ["Cost", (line) => <Amounts {...line} />]
          ]}
        />
      </details>
    </Card>
  )
}

const endingsText = ({ endings }: Sums): string =>
  Object.entries(endings)
    .map(([name, count]) => `${Format.whole(count)} ${name === "unfinished" ? name : lookOf(name).word.toLowerCase()}`)
    .join(", ")

const View = ({ opened: { figures, pricing, runs, title, unreadable } }: { readonly opened: Opened }) => {
  const { from, orchestration, spend, to, toolMillis, workedMillis } = figures
  const { inputTokens, outputTokens } = spend.usage
  return (
    <div>
      <header class="bar">
        <b>Costs</b>
        <span class="dim clip">{Format.oneLine(title, 100)}</span>
      </header>
      <div class="sheet">
        <div class="lede-row">
          <div class="lede grow">
            <h1>
              {Format.counted(figures.runs, "run")} cost <Amounts {...spend} />
            </h1>
            {orchestration.cost !== undefined && (
              <p>
                {Format.share(orchestration.cost)} of the {spend.costUsd > 0 ? "dollars" : "play money"} paid for
                orchestration: plans, advice, checks and critics.
              </p>
            )}
            {unreadable !== undefined && (
              <p class="tone-failed">
                {Format.whole(unreadable)} further {unreadable === 1 ? "run" : "runs"} could not be read. Their rows in
                the list of runs show the reasons.
              </p>
            )}
            <p>
              {Format.exactly(from)}, {Format.duration(to - from)} from the first question to the last answer:{" "}
              {endingsText(figures)}.
            </p>
          </div>
          <dl class="stats">
            <Stat
              name="Calls"
              note={spend.unpricedCalls > 0 ? `${Format.whole(spend.unpricedCalls)} with unknown price` : undefined}
            >
              {Format.whole(spend.calls)}
            </Stat>
            <Stat name="Tokens" note={`${Format.tokens(inputTokens)} in, ${Format.tokens(outputTokens)} out`}>
              {Format.tokens(inputTokens + outputTokens)}
            </Stat>
            <Stat name="Orchestration" note="of the tokens">
              {known(orchestration.tokens, Format.share)}
            </Stat>
            <Stat
              name="Workers active"
              note={toolMillis > 0 ? `and ${Format.duration(toolMillis)} with tools alone` : undefined}
            >
              {Format.duration(workedMillis)}
            </Stat>
          </dl>
        </div>
        {spend.calls > 0 && (
          <>
            <Workers figures={figures} />
            <Purposes figures={figures} />
          </>
        )}
        <Comparison figures={figures} pricing={pricing} />
        <Timeline figures={figures} runs={runs} />
      </div>
    </div>
  )
}

/** Renders the page. */
export const CostsPage = () => {
  const { error, retry, value } = useData<Opened | null>(Sessions.path)
  if (value === null)
    return (
      <Empty isPage title="No runs yet">
        <p>The costs of runs are added up here.</p>
      </Empty>
    )
  if (value !== undefined) return <View opened={value} />
  return error === undefined ? <Skeleton rows={12} /> : <Failed error={error} retry={retry} />
}

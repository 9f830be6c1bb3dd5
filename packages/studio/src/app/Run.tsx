/** @jsxImportSource preact */
/**
 * The page for a single run: answer and totals, the plan next to the waterfall, a timeline slider, and the selected
 * step.
 */
import { Message, type Transcript, Transcript as Transcripts } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks"
import type { Answers } from "../evaluation/Listing.ts"
import * as Comparison from "../run/Comparison.ts"
import * as ExportedPage from "../run/ExportedPage.ts"
import * as Format from "../run/Format.ts"
import { fromTranscript, type Summary } from "../run/Summary.ts"
import * as Waterfalls from "../run/Waterfall.ts"
import { Alone } from "./Alone.tsx"
import { announce } from "./Announcer.tsx"
import { Approval } from "./Approval.tsx"
import { useData } from "./Data.ts"
import { type Connection, followRun, isOver, pause, readRun } from "./Follow.ts"
import { ForkForm } from "./ForkForm.tsx"
import { Mark, State } from "./Icons.tsx"
import { keys } from "./Keys.ts"
import { Action, BarLegend, Failed, Money, Skeleton, Stat, Text } from "./Parts.tsx"
import { PendingCall } from "./PendingCall.tsx"
import { PlanGraph } from "./PlanGraph.tsx"
import { PolicyPane } from "./PolicyPane.tsx"
import { Rating } from "./Rating.tsx"
import { href, place, setQuery } from "./Router.ts"
import { millisOf, refreshRuns, runs } from "./RunList.ts"
import { Scrubber } from "./Scrubber.tsx"
import { SendingError, useSending } from "./Sending.tsx"
import { ask, isExported, isMounted, isRefusal, type Run, SourceError } from "./Source.ts"
import { cancel, canSteer, resume } from "./Steering.ts"
import { StepPane } from "./StepPane.tsx"
import { costOf } from "./Steps.ts"
import { StepTable } from "./StepTable.tsx"
import { WaterfallChart } from "./WaterfallChart.tsx"

/** Resolves a path of steps and items, such as `0.2,0.1[3]`, to a nested run. */
const nestedIn = (transcript: Transcript.Transcript, path: string): Transcript.Transcript =>
  path === ""
    ? transcript
    : path.split(",").reduce<Transcript.Transcript>((run, at) => {
        const { item, round = -1, step = -1 } = Transcripts.readPlace(at) ?? {}
        const record = run.rounds[round]?.steps[step]
        return (item === undefined ? record : record?.items?.find((one) => one.item === item))?.nested ?? run
      }, transcript)

/** A link to the step at which the run was forked from another run. */
const Origin = ({
  of,
  reused
}: {
  readonly of: NonNullable<Transcript.Transcript["forkOf"]>
  /** The steps that the fork reuses from the other run. */
  readonly reused: ReadonlyArray<Waterfalls.Row>
}) => {
  const saved = useSignal(0)
  useEffect(() => {
    const abort = new AbortController()
    readRun(of.runId, abort.signal).then(
      ({ transcript }) => {
        saved.value = reused.reduce((sum, { round, step }) => {
          const record = transcript?.rounds[round]?.steps[step]
          return sum + ((record && costOf(record)) ?? 0)
        }, 0)
      },
      () => {}
    )
    return () => abort.abort()
  }, [of.runId, reused.length])
  const places: Array<Transcript.Place> = []
  for (let at: Transcript.Place | undefined = of; at !== undefined; at = at.nested) places.push(at)
  const last = places.at(-1)!
  const within = places.slice(0, -1).map(Format.place).join(",")
  const query = { step: `${last.round}.${last.step}`, item: last.item, in: within === "" ? undefined : within }
  return (
    <p class="dim">
      Forked from step {last.step} of {within !== "" && "a nested run of "}
      <a class="link" href={href(["runs", of.runId], query)}>
        {Format.runId(of.runId)}
      </a>
      {reused.length > 0 &&
        `. ${reused.length === 1 ? "1 step is" : `${reused.length} steps are`} from that run, and not paid again${saved.value > 0 ? `: ${Format.money(saved.value)}` : ""}`}
    </p>
  )
}

/** The outcome of a run that was opened from an evaluation, with a link to its question. */
const Graded = ({ run }: { readonly run: string }) => {
  const { query } = place.value
  const [of = "", benchmark = "", task = ""] = ["of", "benchmark", "task"].map((name) => query.get(name) ?? "")
  const { value } = useData<Answers>(
    `v1/evaluations/${[of, "questions", benchmark, task].map(Format.segment).join("/")}`
  )
  const score = value?.samples.find((sample) => sample.run === run)?.score
  return (
    <p class="actions">
      {score !== undefined && (
        <State
          state={score >= 1 ? "answered" : score > 0 ? "budget" : "failed"}
          word={score >= 1 ? "Correct" : score > 0 ? `Score ${score.toFixed(2)}` : "Wrong"}
        />
      )}
      {value?.reference !== undefined && `Expected: ${Format.oneLine(value.reference)}`}
      <a class="link" href={href(["evaluations", of], { benchmark, task })}>
        All answers
      </a>
    </p>
  )
}

/** Returns the state of an unfinished run. Pending calls suspend the run once no step is running. */
const openState = (transcript: Transcript.Transcript, listed: string): string => {
  const isRunning = transcript.rounds.at(-1)?.steps.some(({ state }) => state === "running") === true
  if (!isRunning && Transcripts.pendingCalls(transcript).length > 0) return "waiting"
  return listed === "stopped" ? listed : "running"
}

/** States from which a run can be resumed without a tool result. */
const canBeResumed: ReadonlySet<string> = new Set(["stopped", "failed", "budget"])

/** Returns the step selected by default: the last suspended one, or else a running one, or else the last that started. */
const firstChoice = ({ rows }: Waterfalls.Waterfall): Waterfalls.Row | undefined =>
  rows.findLast(({ record }) => record.state === "suspended") ??
  rows.findLast(({ record }) => record.state === "running") ??
  rows.findLast(({ record }) => record.state !== "waiting" && record.state !== "skipped") ??
  rows.at(-1)

const wasteText = (waste: Waterfalls.Waste): string =>
  [
    [waste.failed, "failed"],
    [waste.interrupted, "interrupted"],
    [waste.unconfirmed, "unconfirmed"],
    [waste.reassigned, "reassigned"],
    [waste.skipped, "skipped"]
  ]
    .flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
    .join(", ")

/** Names the most expensive of several steps, and its share of the cost of the run. */
const dearestText = ({ rows }: Waterfalls.Waterfall, runCost: number): ReadonlyArray<string> => {
  const costs = rows.map(({ record, round, step }) => ({ round, step, usd: costOf(record) ?? 0 }))
  const [dearest] = costs.toSorted((one, other) => other.usd - one.usd)
  if (rows.length < 2 || dearest === undefined || dearest.usd === 0) return []
  const name = rows.at(-1)!.round > 0 ? `${dearest.round}.${dearest.step}` : `${dearest.step}`
  return [`${Math.round((100 * dearest.usd) / runCost)}\u00a0% in step ${name}`]
}

/** Offers a single-file export of this run for download, in the state in which it is displayed. */
const exportPage = async (run: ExportedPage.ExportedRun): Promise<string> => {
  const name = `run-${Format.fileName(run.transcript.runId)}.html`
  const alone = Comparison.aloneOf(run.transcript, runs.peek() ?? [])
  const data = alone !== undefined && Comparison.isCertain(run.transcript, alone) ? { alone: [alone] } : {}
  const template = await (await ask(isMounted() ? "studio/export.html" : "export.html")).text()
  const page = ExportedPage.fill(template, ExportedPage.dataOf([run], data))
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  return name
}

const View = ({
  connection,
  reload,
  run
}: {
  readonly run: Run & { readonly transcript: Transcript.Transcript }
  readonly connection: Connection | undefined
  /** Reloads the run after it was steered. */
  readonly reload: () => void
}) => {
  const { query } = place.value
  const within = query.get("in") ?? ""
  const whole = nestedIn(run.transcript, within)
  const { summary } = run
  const state =
    within === ""
      ? whole.ending === undefined
        ? openState(whole, runs.value?.find(({ id }) => id === summary.id)?.state ?? summary.state)
        : fromTranscript(whole).state
      : (whole.ending ?? "running")
  const end = Transcripts.endOf(whole)
  const isLive = connection !== undefined && connection !== "ended" && state === "running"
  const wanted = Number(query.get("at") ?? Number.NaN)
  const isPast = Number.isFinite(wanted) && wanted < end - whole.startedAt
  const time = isPast ? whole.startedAt + Math.max(0, wanted) : end
  const transcript = useMemo(
    () => (isPast ? Transcripts.at(whole, time) : Waterfalls.settled(whole)),
    [whole, isPast, time]
  )
  const waterfall = useMemo(() => Waterfalls.make(transcript, time), [transcript, time])
  const moments = useMemo(() => Waterfalls.momentsOf(whole), [whole])
  const waste = useMemo(() => Waterfalls.wasteOf(transcript), [transcript])
  const asTable = useSignal(false)
  const [wantedRound, wantedStep] = (query.get("step") ?? "").split(".").map(Number)
  const row =
    waterfall.rows.find(({ round, step }) => round === wantedRound && step === wantedStep) ?? firstChoice(waterfall)
  const item = query.get("item")
  const openRow = (row && item !== null && Waterfalls.itemRow(row, item, whole.startedAt, time)) || row
  const isPolicyShown = query.get("pane") === "policy"
  const select = (round: number, step: number) =>
    setQuery({ step: `${round}.${step}`, item: undefined, pane: undefined })
  const goTo = (millis: number | undefined) =>
    setQuery({ at: millis === undefined || millis >= end - whole.startedAt ? undefined : String(Math.round(millis)) })
  /** Moves to the next or previous event. */
  const goToEvent = (by: 1 | -1) => {
    const at = by === 1 ? moments.find((at) => at > time) : moments.findLast((at) => at < time)
    if (at !== undefined || by === 1) goTo(at === undefined ? undefined : at - whole.startedAt)
  }
  const spend = transcript.spend ?? Transcripts.spendSoFar(transcript)
  const isPlay = Transcripts.isAllPlay(whole.pool)
  const answer = transcript.answer ?? (isPast || state === "running" ? undefined : whole.rounds.at(-1)?.answer)
  const wasted = wasteText(waste)
  const duration =
    isPast || within !== ""
      ? time - whole.startedAt
      : millisOf(
          { ...summary, state: state as Summary["state"], changed_at: Math.max(end, summary.changed_at) },
          Date.now()
        )
  const critical = waterfall.rows.reduce(
    (sum, { from = 0, isCritical, to = 0 }) => sum + (isCritical ? to - from : 0),
    0
  )
  const reused = waterfall.rows.filter(({ isReused }) => isReused)
  const round = transcript.rounds[row?.round ?? 0]
  useEffect(
    () =>
      keys({
        ArrowDown: () => move(1),
        ArrowUp: () => move(-1),
        ArrowRight: () => goToEvent(1),
        ArrowLeft: () => goToEvent(-1),
        p: () => setQuery({ pane: isPolicyShown ? undefined : "policy" }),
        f: () => {
          if (canSteer() && row !== undefined) isForking.value = !isForking.value
        }
      }),
    [waterfall, moments, time, row, isPolicyShown]
  )
  const move = (by: number) => {
    const at = row === undefined ? -1 : waterfall.rows.indexOf(row)
    const next = waterfall.rows[Math.min(waterfall.rows.length - 1, Math.max(0, at + by))]
    if (next !== undefined) select(next.round, next.step)
  }
  const copied = useSignal(false)
  const saved = useSignal("")
  const isForking = useSignal(false)
  const steering = useSending()
  const steer = (verb: (run: string) => Promise<void>) =>
    steering.send(async () => {
      await verb(summary.id)
      reload()
    })
  const pending = within === "" && !isPast && state === "waiting" ? Transcripts.pendingCalls(whole) : []
  return (
    <div class="run">
      <header class="bar">
        <span class="crumb">
          <a href={href(["runs"])}>Runs</a> /
        </span>
        {within === "" ? (
          <code class="id">{Format.runId(run.transcript.runId)}</code>
        ) : (
          <a class="crumb" href={href(["runs", summary.id])}>
            {Format.runId(run.transcript.runId)} / nested
          </a>
        )}
        <State
          state={state}
          {...(state === "refused" && {
            word: whole.rounds.some(({ decision }) => decision?.decision === "refused")
              ? "Plan refused"
              : "Declined by a worker"
          })}
        />
        {isLive && (
          <span class={`tag ${connection === "live" ? "tone-answered" : "tone-waiting"}`}>
            {connection === "live" ? "Live" : connection === "connecting" ? "Connecting" : "Reconnecting"}
          </span>
        )}
        <span class="grow" />
        {saved.value !== "" && (
          <span class="dim clip" role="status">
            Saved {saved}
          </span>
        )}
        <time class="dim wide-only" dateTime={Format.iso(whole.startedAt)}>
          {Format.exactly(whole.startedAt)}
        </time>
        {canSteer() && within === "" && canBeResumed.has(state) && (
          <Action icon="play" kind="quiet" disabled={steering.isBusy.value} onClick={() => steer(resume)}>
            Resume
          </Action>
        )}
        {canSteer() && within === "" && (state === "running" || state === "waiting") && (
          <Action icon="close" kind="quiet" disabled={steering.isBusy.value} onClick={() => steer(cancel)}>
            Cancel
          </Action>
        )}
        {canSteer() && row !== undefined && (
          <Action
            icon="fork"
            kind={isForking.value ? "quiet on" : "quiet"}
            onClick={() => (isForking.value = !isForking.value)}
          >
            Fork from step {row.step}
          </Action>
        )}
        {!isExported() && (
          <Action
            icon="link"
            kind="quiet wide-only"
            onClick={() => {
              void navigator.clipboard.writeText(location.href).then(() => {
                copied.value = true
              })
            }}
          >
            {copied.value ? "Copied" : "Link"}
          </Action>
        )}
        {!isExported() && (
          <Action
            icon="export"
            kind="quiet"
            onClick={() =>
              steering.send(async () => {
                saved.value = await exportPage(run)
              })
            }
          >
            Export
          </Action>
        )}
      </header>
      <div class="summary">
        <div class="grow">
          <h1>
            {Format.oneLine(Message.text(whole.task.messages.findLast(({ role }) => role === "user")), 240) ||
              "Question without text"}
          </h1>
          {answer === undefined ? (
            <p class="answer dim says">
              {isPast
                ? "No answer yet at this time."
                : whole.detail === undefined
                  ? !isOver(state)
                    ? "No answer yet."
                    : "This run has no answer."
                  : Format.visible(whole.detail)}
            </p>
          ) : (
            <Answer text={answer} />
          )}
          {answer !== undefined && whole.detail !== undefined && <p class="dim says">{Format.oneLine(whole.detail)}</p>}
          {within === "" && !isPast && state === "answered" && <Alone transcript={whole} />}
          {canSteer() && within === "" && answer !== undefined && isOver(state) && <Rating run={summary.id} />}
          {query.has("of") && <Graded run={summary.id} />}
          {whole.forkOf !== undefined && within === "" && <Origin of={whole.forkOf} reused={reused} />}
        </div>
        <dl class="stats">
          <Stat
            name={isPast ? "Cost so far" : "Cost"}
            note={
              [
                ...(isPlay ? ["play money"] : []),
                ...(spend.unpricedCalls > 0 && spend.costUsd > 0
                  ? [`price of ${Format.counted(spend.unpricedCalls, "call")} unknown`]
                  : []),
                ...dearestText(waterfall, spend.costUsd),
                ...(waste.costUsd > 0 ? [`${Format.money(waste.costUsd)} without an answer`] : [])
              ].join(", ") || undefined
            }
          >
            <Money usd={spend.costUsd} isPartial={spend.unpricedCalls > 0} />
          </Stat>
          <Stat
            name={isPast ? "Time so far" : "Time"}
            note={
              state === "waiting" && !isPast
                ? "until it was suspended"
                : critical > 0
                  ? `critical path ${Format.duration(critical)}`
                  : undefined
            }
          >
            {Format.duration(duration)}
          </Stat>
          <Stat
            name="Tokens"
            note={`${Format.tokens(spend.usage.inputTokens)} in, ${Format.tokens(spend.usage.outputTokens)} out`}
          >
            {Format.tokens(spend.usage.inputTokens + spend.usage.outputTokens)}
          </Stat>
          <Stat
            name="Calls"
            note={wasted === "" ? undefined : wasted}
            tone={waste.failed + waste.unconfirmed > 0 ? "failed" : "quiet"}
          >
            {Format.whole(spend.calls)}
          </Stat>
        </dl>
      </div>
      <SendingError error={steering.error} />
      {pending.map((call) => {
        const { rounds } = whole
        const planned = rounds[call.round]
        return call.for === "plan" && planned !== undefined ? (
          <Approval key={call.id} transcript={whole} round={planned} call={call} onSent={reload} />
        ) : (
          <PendingCall key={call.id} run={summary.id} call={call} onSent={reload} />
        )
      })}
      {isForking.value && row !== undefined && (
        <ForkForm
          key={`${within}/${row.round}.${row.step}.${item}`}
          run={summary.id}
          within={within === "" ? "" : `${within.replaceAll(",", "/")}/`}
          transcript={whole}
          round={row.round}
          step={row.step}
          item={item ?? undefined}
          onClose={() => (isForking.value = false)}
        />
      )}
      <div class="split">
        <section class="pane" aria-label="Plan">
          <header>
            <h2>Plan</h2>
            <span class="dim clip">
              {/* A fork starts with a plan of the other run, which may be edited. Its policy plans later rounds. */}
              {round !== undefined && whole.forkOf !== undefined && round.round <= whole.forkOf.round
                ? "of the fork"
                : `by ${Format.oneLine(round?.policy ?? whole.policy, 40)}`}
              : {Format.counted(waterfall.rows.length, "step")}
              {transcript.rounds.length > 1 && ` in ${transcript.rounds.length} rounds`}
              {reused.length > 0 && `, ${reused.length} from the forked run`}
            </span>
            <span class="grow" />
            <button
              type="button"
              class="button quiet"
              aria-pressed={isPolicyShown}
              onClick={() => setQuery({ pane: isPolicyShown ? undefined : "policy" })}
            >
              Policy
            </button>
            <button
              type="button"
              class="button quiet"
              aria-pressed={asTable.value}
              onClick={() => (asTable.value = !asTable.value)}
            >
              As table
            </button>
          </header>
          <div class="canvas dotted" role="group" aria-label="Plan, scrollable" tabIndex={0}>
            {transcript.rounds.length === 0 && <p class="pane-note">There is no plan.</p>}
            {transcript.rounds.map((one) => (
              <div key={one.round} class="round">
                {transcript.rounds.length > 1 && (
                  <p class="round-name">
                    Round {one.round}
                    {one.confirmed && ": the answer was confirmed"}
                  </p>
                )}
                {one.workflow === undefined ? (
                  <p class="pane-note">
                    {one.completions.length > 0 || state === "running"
                      ? "The policy is writing a plan."
                      : "The policy wrote no plan."}
                  </p>
                ) : (
                  <PlanGraph
                    round={one}
                    rows={waterfall.rows.filter(({ round }) => round === one.round)}
                    selected={row?.round === one.round && !isPolicyShown ? row.step : undefined}
                    onSelect={(step) => select(one.round, step)}
                  />
                )}
              </div>
            ))}
          </div>
        </section>
        <section class="pane" aria-label="Waterfall">
          <header>
            <h2>Waterfall</h2>
            <span class="grow" />
            <BarLegend hasFailed />
          </header>
          <div class="canvas" role="group" aria-label="Waterfall, scrollable" tabIndex={0}>
            {waterfall.rows.length === 0 ? (
              <p class="pane-note">No step has started.</p>
            ) : (
              <WaterfallChart
                waterfall={{ ...waterfall, millis: Math.max(1, end - whole.startedAt) }}
                selected={isPolicyShown ? undefined : row}
                onSelect={select}
                start={whole.startedAt}
                at={time - whole.startedAt}
                hasRounds={transcript.rounds.length > 1}
              />
            )}
          </div>
        </section>
      </div>
      <StepTable transcript={transcript} waterfall={waterfall} onSelect={select} isHidden={!asTable.value} />
      <Scrubber
        moments={moments}
        start={whole.startedAt}
        end={end}
        time={time}
        onTime={goTo}
        onEvent={goToEvent}
        isLive={isLive}
      />
      {isPolicyShown && round !== undefined ? (
        <PolicyPane transcript={transcript} round={round} />
      ) : row === undefined || openRow === undefined ? (
        <p class="pane-note">
          <Mark state={state} /> No step has started.
        </p>
      ) : (
        <StepPane
          key={`${within}/${row.round}.${row.step}/${openRow.record.item}`}
          transcript={transcript}
          row={openRow}
          onItem={(item) => setQuery({ step: `${row.round}.${row.step}`, item })}
          runCost={spend.costUsd}
          isPlay={isPlay}
          onOpenNested={
            openRow.record.nested === undefined
              ? undefined
              : () =>
                  setQuery({
                    in: [within, Format.place({ ...row, item: openRow.record.item })]
                      .filter((at) => at !== "")
                      .join(","),
                    step: undefined,
                    item: undefined,
                    at: undefined
                  })
          }
        />
      )}
    </div>
  )
}

/** The answer at the top of the page, either its first lines or complete. */
const Answer = ({ text }: { readonly text: string }) => {
  const isOpen = useSignal(false)
  const isLong = text.length > 320 || text.split("\n", 5).length > 4
  return (
    <div class={`answer ${isOpen.value || !isLong ? "" : "cut"}`}>
      {isOpen.value ? <Text text={text} kind="answer-text" /> : <bdi>{Format.visible(text.slice(0, 1_000))}</bdi>}
      {isLong && (
        <button type="button" class="link" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "Show less" : "Show the whole answer"}
        </button>
      )}
    </div>
  )
}

/** Loads the run in the address, and follows it while it is active. */
export const RunPage = ({ id }: { readonly id: string }) => {
  const run = useSignal<Run | undefined>(undefined)
  const error = useSignal<Error | undefined>(undefined)
  const connection = useSignal<Connection | undefined>(undefined)
  const attempt = useSignal(0)
  useLayoutEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    error.value = undefined
    connection.value = undefined
    /** The run remains displayed while the server is unreachable. */
    const read = async (): Promise<Run> => {
      for (;;) {
        try {
          return await readRun(id, signal)
        } catch (cause) {
          if (signal.aborted || isRefusal(cause) || run.peek()?.summary.id !== id) throw cause
          connection.value = "reconnecting"
          await pause(1_000, signal)
        }
      }
    }
    const load = async () => {
      run.value = await read()
      if (isOver(run.value.summary.state) || isExported() || run.value.transcript === undefined) return
      const isFollowed = await followRun(id, {
        signal,
        onConnection: (state) => {
          connection.value = state
        },
        onTranscript: (transcript) => {
          run.value = {
            summary: {
              ...run.value!.summary,
              ...(transcript.ending !== undefined && { state: fromTranscript(transcript).state })
            },
            transcript
          }
        }
      }).then(
        () => true,
        (cause: Error) => {
          // Transcripts in a folder have no event stream.
          if (!(cause instanceof SourceError && cause.status === 404)) throw cause
          connection.value = undefined
          return false
        }
      )
      if (isFollowed && !signal.aborted) {
        run.value = await read()
        announce(`The run has ended: ${run.value.summary.state}.`)
      }
    }
    load().catch((cause: Error) => {
      if (!signal.aborted) error.value = cause
    })
    return () => abort.abort()
  }, [id, attempt.value])
  if (error.value !== undefined) return <Failed error={error.value} retry={() => (attempt.value += 1)} />
  const { value } = run
  if (value === undefined) return <Skeleton rows={10} />
  const { transcript } = value
  if (transcript === undefined) {
    return <Failed error={new Error("This server stores no content, so only the list has this run: --content none.")} />
  }
  return (
    <View
      run={{ ...value, transcript }}
      connection={connection.value}
      reload={() => {
        // The states of stopped runs are only available from the list.
        refreshRuns()
          .catch(() => {})
          .finally(() => {
            attempt.value += 1
          })
      }}
    />
  )
}

/** @jsxImportSource preact */
/** Compares two runs of the same task side by side, or one task under several policies. The user chooses the runs. */
import { RunEvent, type Transcript, Transcript as Transcripts } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Comparison from "../../run/Comparison.ts"
import * as Format from "../../run/Format.ts"
import { fromTranscript, type Summary } from "../../run/Summary.ts"
import * as Waterfalls from "../../run/Waterfall.ts"
import { readRun } from "../Follow.ts"
import { Mark, State } from "../Icons.tsx"
import { BarLegend, Empty, Failed, Head, Money, Skeleton, Text } from "../Parts.tsx"
import { PlanGraph } from "../PlanGraph.tsx"
import { go, href, place } from "../Router.ts"
import { error, runs } from "../RunList.ts"
import { SourceError } from "../Source.ts"
import { WaterfallChart } from "../WaterfallChart.tsx"

/** Maximum number of runs to load per question. */
const maxRuns = 24

/** Loads the transcripts of runs, preserving their order. */
const useTranscripts = (ids: ReadonlyArray<string>) => {
  const state = useSignal<{ readonly found?: ReadonlyArray<Transcript.Transcript>; readonly error?: Error }>({})
  const attempt = useSignal(0)
  useEffect(() => {
    const abort = new AbortController()
    state.value = {}
    const read = async (id: string) => {
      const { transcript } = await readRun(id, abort.signal)
      if (transcript === undefined) throw new SourceError(403, `The content of run ${id} is not stored.`)
      return transcript
    }
    Promise.all(ids.map(read)).then(
      (found) => {
        if (!abort.signal.aborted) state.value = { found }
      },
      (error: Error) => {
        if (!abort.signal.aborted) state.value = { error }
      }
    )
    return () => abort.abort()
  }, [ids.join("\n"), attempt.value])
  return { ...state.value, retry: () => (attempt.value += 1) }
}

const RunCard = ({ letter, transcript }: { readonly letter: string; readonly transcript: Transcript.Transcript }) => (
  <section class="card" aria-label={`Run ${letter}`}>
    <header>
      <span class="letter">{letter}</span>
      <h2>{Format.oneLine(transcript.policy, 60)}</h2>
      <a class="link" href={href(["runs", transcript.runId])}>
        <code>{Format.runId(transcript.runId)}</code>
      </a>
      <span class="grow" />
      <State state={fromTranscript(transcript).state} />
    </header>
    <div class="body compared-answer" role="group" aria-label={`Answer of ${letter}, scrollable`} tabIndex={0}>
      {transcript.answer === undefined ? (
        <p class="dim">{transcript.detail === undefined ? "No answer." : Format.oneLine(transcript.detail, 400)}</p>
      ) : (
        <Text text={transcript.answer} kind="question-text" />
      )}
    </div>
  </section>
)

const compared = (one: number | undefined, other: number | undefined, less: string, more: string): string => {
  if (one === undefined || other === undefined || one === other) return one === other ? "same" : ""
  if (one === 0 || other === 0) return ""
  return one < other ? `${Format.ratio(other / one)} ${less} in A` : `${Format.ratio(one / other)} ${more} in A`
}

const FiguresTable = ({
  isPlay,
  one,
  other
}: {
  readonly one: Comparison.Figures
  readonly other: Comparison.Figures
  readonly isPlay: boolean
}) => {
  const count = (name: string, value: (figures: Comparison.Figures) => number) =>
    [
      name,
      Format.whole(value(one)),
      Format.whole(value(other)),
      compared(value(one), value(other), "fewer", "more")
    ] as const
  const rows = [
    [
      isPlay ? "Cost, play money" : "Cost",
      Format.money(one.costUsd),
      Format.money(other.costUsd),
      compared(one.costUsd, other.costUsd, "less", "more")
    ] as const,
    [
      "Time",
      Format.duration(one.millis),
      Format.duration(other.millis),
      compared(one.millis, other.millis, "less", "more")
    ] as const,
    count("Tokens in", ({ inputTokens }) => inputTokens),
    count("Tokens out", ({ outputTokens }) => outputTokens),
    count("Calls", ({ calls }) => calls),
    count("Steps that ran", ({ steps }) => steps)
  ]
  return (
    <section class="card" aria-label="Figures">
      <header>
        <h2>Figures</h2>
      </header>
      <div class="body">
        <table class="table">
          <caption class="unseen">Figures of both runs</caption>
          <Head columns={["Figure", ["A", "right"], ["B", "right"], ["Difference", "right"]]} />
          <tbody>
            {rows.map(([name, mine, others, difference]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="right">{mine}</td>
                <td class="right">{others}</td>
                <td class="right">{difference}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const stepHref = ({ runId }: Transcript.Transcript, round: number, step: number): string =>
  href(["runs", runId], { step: `${round}.${step}` })

const StepCell = ({
  side,
  transcript
}: {
  readonly side: Comparison.Side | undefined
  readonly transcript: Transcript.Transcript
}) => {
  if (side === undefined) return <td class="wide dim">no such step</td>
  const { record, round, step, subtask } = side
  return (
    <td class="wide">
      <a class="step-link" href={stepHref(transcript, round, step)}>
        <Mark state={record.state === "waiting" ? "pending" : record.state} size={13} />
        <b>{Format.oneLine(RunEvent.authorOf(record), 40)}</b>
      </a>
      <p>{subtask === "" ? "The question" : Format.oneLine(subtask, 160)}</p>
      {record.text !== "" && <p class="dim">{Format.oneLine(record.text, 160)}</p>}
    </td>
  )
}

const StepsTable = ({ one, other }: { readonly one: Transcript.Transcript; readonly other: Transcript.Transcript }) => {
  const pairs = Comparison.pairsOf(one, other)
  const first = pairs.find(({ differs }) => differs !== undefined)
  return (
    <section class="card" aria-label="Steps">
      <header>
        <h2>Steps</h2>
        <span class="dim">
          {first === undefined
            ? "all steps are the same"
            : `they differ from step ${first.name.split(".")[1]}${first.differs === "only one" ? "" : `: another ${first.differs}`}`}
        </span>
      </header>
      <div class="body" role="group" aria-label="Steps, scrollable" tabIndex={0}>
        <table class="table pairs">
          <caption class="unseen">Steps of both runs</caption>
          <Head columns={["Step", "A", "B", "Differs in"]} />
          <tbody>
            {pairs.map(({ differs, name, one: mine, other: others }) => (
              <tr key={name}>
                <th scope="row">{one.rounds.length > 1 || other.rounds.length > 1 ? name : name.split(".")[1]}</th>
                <StepCell side={mine} transcript={one} />
                <StepCell side={others} transcript={other} />
                <td>{differs === undefined ? "" : differs === "only one" ? "number of steps" : differs}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const Side = ({
  letter,
  millis,
  transcript
}: {
  readonly letter: string
  readonly transcript: Transcript.Transcript
  /** End of the shared time scale. */
  readonly millis: number
}) => {
  const waterfall = Waterfalls.make(transcript)
  const open = (round: number, step: number) => go(stepHref(transcript, round, step))
  return (
    <>
      <h3 class="side-name">
        {letter} · {Format.oneLine(transcript.policy, 60)}
      </h3>
      <WaterfallChart
        waterfall={{ ...waterfall, millis }}
        selected={undefined}
        onSelect={open}
        start={transcript.startedAt}
        at={millis}
        hasRounds={transcript.rounds.length > 1}
      />
    </>
  )
}

const Plan = ({ letter, transcript }: { readonly letter: string; readonly transcript: Transcript.Transcript }) => {
  const { rows } = Waterfalls.make(transcript)
  return (
    <section class="card" aria-label={`Plan of ${letter}`}>
      <header>
        <h2>Plan of {letter}</h2>
        <span class="dim">{Format.counted(rows.length, "step")}</span>
      </header>
      <div class="body" role="group" aria-label={`Plan of ${letter}, scrollable`} tabIndex={0}>
        {transcript.rounds.map((round) =>
          round.workflow === undefined ? (
            <p key={round.round} class="dim">
              The policy wrote no plan.
            </p>
          ) : (
            <PlanGraph
              key={round.round}
              name={letter}
              round={round}
              rows={rows.filter((row) => row.round === round.round)}
              selected={undefined}
              onSelect={(step) => go(stepHref(transcript, round.round, step))}
            />
          )
        )}
      </div>
    </section>
  )
}

const Two = ({ one, other }: { readonly one: Transcript.Transcript; readonly other: Transcript.Transcript }) => {
  const figures = [Comparison.figuresOf(one), Comparison.figuresOf(other)] as const
  const millis = Math.max(1, figures[0].millis, figures[1].millis)
  const questions = [Comparison.questionOf(one), Comparison.questionOf(other)]
  const isSame = questions[0] === questions[1]
  return (
    <div class="sheet">
      <div class="lede">
        <h1>{Comparison.findingOf(one, other)}</h1>
        <p>{Format.oneLine(questions[0]!, 400)}</p>
        {!isSame && (
          <p class="tone-waiting">
            <Mark state="waiting" size={13} /> B has another question: {Format.oneLine(questions[1]!, 300)}
          </p>
        )}
      </div>
      <div class="columns">
        <RunCard letter="A" transcript={one} />
        <RunCard letter="B" transcript={other} />
      </div>
      <div class="columns wide-left">
        <section class="card" aria-label="Time">
          <header>
            <h2>Time, one scale</h2>
            <span class="grow" />
            <BarLegend />
          </header>
          <div class="body">
            <Side letter="A" transcript={one} millis={millis} />
            <Side letter="B" transcript={other} millis={millis} />
          </div>
        </section>
        <FiguresTable
          one={figures[0]}
          other={figures[1]}
          isPlay={Transcripts.isAllPlay(one.pool) && Transcripts.isAllPlay(other.pool)}
        />
      </div>
      <StepsTable one={one} other={other} />
      <div class="columns">
        <Plan letter="A" transcript={one} />
        <Plan letter="B" transcript={other} />
      </div>
    </div>
  )
}

const ComparePair = ({ a, b }: { readonly a: string; readonly b: string }) => {
  const { error, found, retry } = useTranscripts([a, b])
  if (error !== undefined) return <Failed error={error} retry={retry} />
  if (found === undefined) return <Skeleton rows={12} />
  return <Two one={found[0]!} other={found[1]!} />
}

/** Runs with an unknown price are listed after those with a known one. */
const priceOf = ({ costUsd = Number.POSITIVE_INFINITY }: Comparison.Figures): number =>
  Math.min(costUsd, Number.MAX_VALUE)

/** The runs of one question. */
const Several = ({ ids }: { readonly ids: ReadonlyArray<string> }) => {
  const { error, found, retry } = useTranscripts(ids)
  const picked = useSignal<ReadonlyArray<string>>([])
  if (error !== undefined) return <Failed error={error} retry={retry} />
  if (found === undefined) return <Skeleton rows={8} />
  // The list has only the first characters of a question.
  const question = Comparison.questionOf(found[0]!)
  const rows = found
    .filter((transcript) => Comparison.questionOf(transcript) === question)
    .map((transcript) => ({ transcript, figures: Comparison.figuresOf(transcript) }))
    .sort((one, other) => priceOf(one.figures) - priceOf(other.figures))
  const toggle = (id: string) => {
    const rest = picked.value.filter((one) => one !== id)
    picked.value = rest.length < picked.value.length ? rest : [...rest, id].slice(-2)
  }
  const [a, b] = picked.value
  const policies = new Set(rows.map(({ transcript }) => transcript.policy)).size
  return (
    <div class="sheet">
      <div class="lede">
        <h1>{Format.oneLine(question, 240)}</h1>
        <p>
          {Format.counted(rows.length, "run")} under {policies === 1 ? "one policy" : `${policies} policies`}, the
          cheapest first.
        </p>
      </div>
      <section class="card" aria-label="Runs of this question">
        <header>
          <h2>Runs of this question</h2>
          <span class="grow" />
          <button
            type="button"
            class="button primary"
            disabled={a === undefined || b === undefined}
            onClick={() => go(href(["compare"], { a, b }))}
          >
            Compare two
          </button>
        </header>
        <div class="body" role="group" aria-label="Runs of this question, scrollable" tabIndex={0}>
          <table class="table">
            <caption class="unseen">Runs of this question</caption>
            <Head
              columns={[
                [<span class="unseen">Selected</span>],
                "Policy",
                "Outcome",
                ["Answer", "wide-only"],
                ["Steps that ran", "right"],
                ["Tokens", "right"],
                ["Time", "right"],
                ["Cost", "right"]
              ]}
            />
            <tbody>
              {rows.map(({ figures, transcript }) => (
                <tr key={transcript.runId} class={picked.value.includes(transcript.runId) ? "chosen" : ""}>
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`Select run ${Format.runId(transcript.runId)} of ${transcript.policy}`}
                      checked={picked.value.includes(transcript.runId)}
                      onChange={() => toggle(transcript.runId)}
                    />
                  </td>
                  <th scope="row">
                    <a class="link" href={href(["runs", transcript.runId])}>
                      {Format.oneLine(transcript.policy, 60)} <code>{Format.runId(transcript.runId)}</code>
                    </a>
                    <span class="why">
                      {Format.exactly(transcript.startedAt)}
                      {transcript.forkOf !== undefined && `, fork of ${Format.runId(transcript.forkOf.runId)}`}
                    </span>
                  </th>
                  <td>
                    <State state={fromTranscript(transcript).state} />
                  </td>
                  <td class="wide wide-only">{Format.oneLine(transcript.answer ?? transcript.detail ?? "", 200)}</td>
                  <td class="right">{Format.whole(figures.steps)}</td>
                  <td class="right">{Format.whole(figures.inputTokens + figures.outputTokens)}</td>
                  <td class="right">{Format.duration(figures.millis)}</td>
                  <td class="right">
                    <Money
                      usd={figures.costUsd}
                      isPlay={Transcripts.isAllPlay(transcript.pool)}
                      isPartial={transcript.spend !== undefined && transcript.spend.unpricedCalls > 0}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  )
}

/** Returns the questions with several runs, newest first. */
const questionsOf = (list: ReadonlyArray<Summary>): ReadonlyArray<ReadonlyArray<Summary>> => {
  const groups = new Map<string, Array<Summary>>()
  for (const run of list) {
    if (run.question === null || run.damaged !== undefined) continue
    const group = groups.get(run.question)
    if (group === undefined) groups.set(run.question, [run])
    else group.push(run)
  }
  return [...groups.values()].filter(({ length }) => length > 1)
}

/** Maximum number of questions to offer. */
const maxQuestions = 200

/** The list of runs while it is being loaded. */
const Loading = ({ isPart = false, retry }: { readonly isPart?: boolean; readonly retry: () => void }) =>
  error.value === undefined ? <Skeleton rows={8} /> : <Failed isPart={isPart} error={error.value} retry={retry} />

const Choice = ({ retry }: { readonly retry: () => void }) => {
  if (runs.value === undefined) return <Loading isPart retry={retry} />
  const questions = questionsOf(runs.value)
  if (questions.length === 0) {
    return (
      <Empty title="No question has two runs">
        <p>Ask one question under two policies, or select two runs in the list with X and compare them with C.</p>
        <a class="button" href={href(["runs"])}>
          Go to the runs
        </a>
      </Empty>
    )
  }
  return (
    <div class="list-holder" role="group" aria-label="Questions, scrollable" tabIndex={0}>
      <table class="table questions">
        <caption class="unseen">Questions with several runs</caption>
        <Head columns={["Question", "Policies", ["Runs", "right"]]} />
        <tbody>
          {questions.slice(0, maxQuestions).map((group) => {
            const [first] = group
            const policies = [...new Set(group.map(({ policy }) => policy))].sort()
            return (
              <tr key={first!.id}>
                <th scope="row" class="clip">
                  <a class="link" href={href(["compare"], { question: first!.id })}>
                    {Format.oneLine(first!.question ?? "", 160) || "(no text)"}
                  </a>
                </th>
                <td class="clip">
                  {policies.length > 2 && `${Format.whole(policies.length)}: `}
                  {Format.oneLine(policies.slice(0, 4).join(", "), 100)}
                  {policies.length > 4 && ", …"}
                </td>
                <td class="right">{Format.whole(group.length)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

const QuestionRuns = ({ id, retry }: { readonly id: string; readonly retry: () => void }) => {
  const list = runs.value
  if (list === undefined) return <Loading retry={retry} />
  const group = questionsOf(list).find((some) => some.some((run) => run.id === id))
  if (group === undefined) return <Failed error={new Error("This question does not have two runs in the list.")} />
  return <Several ids={group.slice(0, maxRuns).map(({ id }) => id)} />
}

/** Renders two runs, the runs of a question, or the questions that have several runs. */
export const ComparePage = ({ retry }: { readonly retry: () => void }) => {
  const { query } = place.value
  const [a, b, question] = ["a", "b", "question"].map((name) => query.get(name))
  const isChoice = !(a && b) && !question
  return (
    <div class={isChoice ? "page-list" : ""}>
      <header class="bar">
        {isChoice ? (
          <h1>Compare</h1>
        ) : (
          <span class="crumb">
            <a href={href(["compare"])}>Compare</a> / {a && b ? "two runs" : "one question"}
          </span>
        )}
        {isChoice && <span class="dim clip">questions with several runs; select any two runs in their list</span>}
        <span class="grow" />
        {a && b && (
          <a class="button quiet" href={href(["compare"], { a: b, b: a })}>
            Swap A and B
          </a>
        )}
      </header>
      {a && b ? (
        <ComparePair a={a} b={b} />
      ) : question ? (
        <QuestionRuns id={question} retry={retry} />
      ) : (
        <Choice retry={retry} />
      )}
    </div>
  )
}

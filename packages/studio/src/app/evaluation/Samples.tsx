/** @jsxImportSource preact */
/**
 * The questions of an evaluation with the outcomes of two policies, with filters, and the answers to a selected
 * question.
 */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { Answers, Opened, Question, Sample } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { useData } from "../Data.ts"
import { Icon, Mark } from "../Icons.tsx"
import { Failed, Head, Money, Skeleton, Text } from "../Parts.tsx"
import { href, place, setQuery } from "../Router.ts"

/** Number of rows to show initially, and to add with each click. */
const pageSize = 100

const stateOf = (mean: number | undefined): string =>
  mean === undefined ? "unconfirmed" : mean >= 1 ? "answered" : mean <= 0 ? "failed" : "budget"

const wordOf = (scores: ReadonlyArray<number | null>): string => {
  const known = scores.filter((score) => score !== null)
  if (known.length === 0) return scores.length === 0 ? "none" : "missing"
  const correct = known.filter((score) => score >= 1).length
  if (known.some((score) => score > 0 && score < 1)) return `score ${(Listing.meanOf(scores) ?? 0).toFixed(2)}`
  if (known.length === 1) return correct === 1 ? "correct" : "wrong"
  return `${correct} of ${known.length} correct`
}

const Outcome = ({ scores = [] }: { readonly scores: ReadonlyArray<number | null> | undefined }) => (
  <span class="state">
    <Mark state={stateOf(Listing.meanOf(scores))} size={13} />
    {wordOf(scores)}
  </span>
)

const sampleWord = ({ isUnparsed, missing, score }: Sample): string =>
  missing !== undefined
    ? "missing"
    : isUnparsed === true
      ? "unreadable"
      : score === undefined
        ? "no score"
        : wordOf([score])

const Answer = ({
  id,
  isPlay,
  sample
}: {
  readonly id: string
  readonly sample: Answers["samples"][number]
  readonly isPlay: boolean
}) => {
  const {
    answer,
    benchmark,
    costUsd,
    epoch,
    failure,
    inputTokens,
    millis,
    missing,
    outputTokens,
    policy,
    run,
    score,
    steps,
    task
  } = sample
  const why = missing?.message ?? failure
  return (
    <tr>
      <th scope="row">
        {Format.oneLine(policy, 40)}
        {epoch > 0 && <span class="dim"> · answer {epoch + 1}</span>}
      </th>
      <td>
        <span class="state">
          <Mark state={missing === undefined ? stateOf(score) : "unconfirmed"} size={13} />
          {sampleWord(sample)}
        </span>
      </td>
      <td class="wide">
        {answer === undefined ? (
          <span class="dim">{why === undefined ? "no answer stored" : Format.oneLine(why, 300)}</span>
        ) : (
          <Text text={answer} kind="sample-text" />
        )}
        {answer !== undefined && why !== undefined && <span class="dim">{Format.oneLine(why, 300)}</span>}
      </td>
      <td>
        {steps.length === 0
          ? "no step"
          : Format.oneLine([...new Set(steps.map(({ worker }) => worker))].join(" → "), 60)}
      </td>
      <td class="right">{Format.whole(inputTokens + outputTokens)}</td>
      <td class="right">{Format.duration(millis)}</td>
      <td class="right">
        <Money usd={costUsd} isPlay={isPlay} />
      </td>
      <td class="right">
        {run !== null && (
          <a
            class="link"
            href={href(["runs", run], { of: id, benchmark, task })}
            aria-label={`Open the run of ${policy}, answer ${epoch + 1}`}
          >
            Run
          </a>
        )}
      </td>
    </tr>
  )
}

const AnswersPane = ({
  first,
  id,
  isPlay,
  question
}: {
  readonly id: string
  readonly question: Question
  readonly isPlay: boolean
  /** Policies whose answers are listed first. */
  readonly first: ReadonlyArray<string>
}) => {
  const { error, retry, value } = useData<Answers>(Listing.answersPath(id, question))
  const isWhole = useSignal(false)
  if (value === undefined)
    return error === undefined ? <Skeleton rows={3} /> : <Failed isPart error={error} retry={retry} />
  const rank = (policy: string) => (first.includes(policy) ? first.indexOf(policy) : first.length)
  const all = [...value.samples].sort((one, other) => rank(one.policy) - rank(other.policy))
  const shown = isWhole.value ? all : all.filter(({ policy }) => first.includes(policy))
  return (
    <div class="answers">
      {value.question !== null && <Text text={value.question} kind="question-text" />}
      {value.reference !== undefined && (
        <div class="expected">
          <h3>Expected</h3>
          <Text text={value.reference} kind="sample-text" />
        </div>
      )}
      <div class="scroll" role="group" aria-label="Answers, scrollable" tabIndex={0}>
        <table class="table">
          <caption class="unseen">Answers to {question.task}</caption>
          <Head
            columns={[
              "Policy",
              "Outcome",
              "Answer",
              "Workers",
              ["Tokens", "right"],
              ["Time", "right"],
              ["Cost", "right"],
              [<span class="unseen">Run</span>, "right"]
            ]}
          />
          <tbody>
            {shown.map((sample) => (
              <Answer key={`${sample.policy}/${sample.epoch}`} id={id} sample={sample} isPlay={isPlay} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="dim">
        {shown.length < all.length && (
          <button type="button" class="link" onClick={() => (isWhole.value = true)}>
            Show all {all.length} answers
          </button>
        )}{" "}
        {value.samples.every(({ run }) => run === null) &&
          "Runs can be opened from here if the evaluation is made with --transcripts."}
      </p>
    </div>
  )
}

const Pick = ({
  label,
  names,
  onChange,
  value
}: {
  readonly label: string
  readonly names: ReadonlyArray<string>
  readonly value: number
  readonly onChange: (index: number) => void
}) => (
  <label class="choice on">
    <span class="unseen">{label}</span>
    <select value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
      {names.map((name, index) => (
        <option key={name} value={index}>
          {Format.oneLine(name, 40)}
        </option>
      ))}
    </select>
  </label>
)

type Filter = "all" | "differ" | "wrong" | "missing"

/** Renders the questions. */
export const Samples = ({
  benchmark,
  isPlay,
  opened: { id, questions, report }
}: {
  readonly opened: Opened
  readonly benchmark: string
  readonly isPlay: boolean
}) => {
  const names = report.config.policies.map(({ name }) => name)
  const { query } = place.value
  const ordinal = (name: string, otherwise: number) => {
    const index = names.indexOf(query.get(name) ?? "")
    return index < 0 ? Math.min(otherwise, names.length - 1) : index
  }
  const one = ordinal("a", 0)
  const other = ordinal("b", 1)
  const opened = useRef<HTMLTableRowElement>(null)
  // The page of a run leads back to the question.
  useEffect(() => opened.current?.scrollIntoView(), [])
  const search = useSignal("")
  const most = useSignal(pageSize)
  const own = questions.filter((question) => question.benchmark === benchmark)
  const isWrong = ({ scores }: Question) => (Listing.meanOf(scores[one]) ?? 1) < 1
  const isMissing = ({ scores }: Question) => scores.some((some) => some.some((score) => score === null))
  const matches: Readonly<Record<Filter, (question: Question) => boolean>> = {
    all: () => true,
    differ: (question) => Listing.differ(question, one, other),
    wrong: isWrong,
    missing: isMissing
  }
  const show = query.get("show") ?? ""
  const filter = Object.hasOwn(matches, show) ? (show as Filter) : "all"
  const counts = (name: Filter) => own.filter(matches[name]).length
  const words = search.value.trim().toLowerCase()
  const found = own
    .filter(matches[filter])
    .filter(({ stratum, task }) => words === "" || `${task} ${stratum ?? ""}`.toLowerCase().includes(words))
  const open = query.get("task")
  const chips: ReadonlyArray<readonly [Filter, string]> = [
    ["all", "All"],
    ["differ", "The two differ"],
    ["wrong", "First not correct"],
    ["missing", "Missing"]
  ]
  return (
    <section class="card" aria-label="Samples" id="samples">
      <header>
        <h2>Samples</h2>
        <Pick label="First policy" names={names} value={one} onChange={(index) => setQuery({ a: names[index] })} />
        {names.length > 1 && (
          <>
            <span class="dim">and</span>
            <Pick
              label="Second policy"
              names={names}
              value={other}
              onChange={(index) => setQuery({ b: names[index] })}
            />
          </>
        )}
        <span class="grow" />
        {chips.map(([name, text]) => (
          <button
            key={name}
            type="button"
            class={`chip ${filter === name ? "on" : ""}`}
            aria-pressed={filter === name}
            onClick={() => {
              most.value = pageSize
              setQuery({ show: name === "all" ? undefined : name })
            }}
          >
            {text} {Format.whole(counts(name))}
          </button>
        ))}
        <label class="field">
          <Icon name="search" size={14} />
          <span class="unseen">Search questions and kinds</span>
          <input
            type="search"
            placeholder="Search"
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
        </label>
      </header>
      <div class="body" role="group" aria-label="Samples, scrollable" tabIndex={0}>
        {found.length === 0 ? (
          <p class="dim">No question matches.</p>
        ) : (
          <table class="table samples">
            <caption class="unseen">Questions with the outcomes of two policies</caption>
            <Head
              columns={[
                "Question",
                "Kind",
                ...[...new Set([one, other])].map((index) => Format.oneLine(names[index] ?? "", 30)),
                ["Policies that are correct", "right"]
              ]}
            />
            <tbody>
              {found.slice(0, most.value).flatMap((question) => {
                const { scores, stratum, task } = question
                const isOpen = open === task
                const means = scores.map(Listing.meanOf)
                const row = (
                  <tr key={task} class={isOpen ? "chosen" : ""} ref={isOpen ? opened : null}>
                    <th scope="row">
                      <button
                        type="button"
                        class="link"
                        aria-expanded={isOpen}
                        onClick={() => setQuery({ task: isOpen ? undefined : task })}
                      >
                        {Format.oneLine(task, 80)}
                      </button>
                    </th>
                    <td>{stratum === null ? "" : Format.oneLine(stratum, 40)}</td>
                    <td>
                      <Outcome scores={scores[one]} />
                    </td>
                    {other !== one && (
                      <td>
                        <Outcome scores={scores[other]} />
                      </td>
                    )}
                    <td class="right">
                      {means.filter((mean) => mean !== undefined && mean >= 1).length} of {names.length}
                    </td>
                  </tr>
                )
                return isOpen
                  ? [
                      row,
                      <tr key={`${task}/answers`}>
                        <td colSpan={5}>
                          <AnswersPane
                            id={id}
                            question={question}
                            isPlay={isPlay}
                            first={[names[one] ?? "", names[other] ?? ""]}
                          />
                        </td>
                      </tr>
                    ]
                  : [row]
              })}
            </tbody>
          </table>
        )}
        {found.length > most.value && (
          <p class="more">
            <span class="dim">
              {Format.whole(most.value)} of {Format.whole(found.length)} questions.{" "}
            </span>
            <button type="button" class="button" onClick={() => (most.value += pageSize)}>
              Show more
            </button>
          </p>
        )}
      </div>
    </section>
  )
}

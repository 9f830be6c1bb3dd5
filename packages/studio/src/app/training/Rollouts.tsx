/** @jsxImportSource preact */
/** The rollouts of an iteration by group, with a slider for selecting the iteration. */
import { Message } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import * as Format from "../../run/Format.ts"
import type { Completion, Group, Opened } from "../../training/Listing.ts"
import * as Listing from "../../training/Listing.ts"
import { useData } from "../Data.ts"
import { Mark } from "../Icons.tsx"
import { Failed, Money, Skeleton, Text } from "../Parts.tsx"

const states = { correct: "answered", wrong: "failed", unreadable: "refused" } as const

const planText = ({ workers = [], workflow }: Completion): string => {
  if (workflow === undefined || workflow.steps.length === 0) return "no plan"
  return workflow.steps
    .map(({ access, worker }, step) => {
      const name = workers[step] ?? `worker ${worker}`
      const sees = access === "all" ? "all" : access.join(", ")
      return sees === "" ? name : `${name} (sees ${sees})`
    })
    .join(" → ")
}

const Details = ({ completion, isPlay }: { readonly completion: Completion; readonly isPlay: boolean }) => (
  <div class="rollout">
    {completion.detail !== undefined && <p class="dim">{Format.oneLine(completion.detail, 400)}</p>}
    <h4>Written</h4>
    <Text text={completion.completion} kind="code-text" />
    {completion.answer !== undefined && (
      <>
        <h4>Answer</h4>
        <Text text={completion.answer} kind="sample-text" />
      </>
    )}
    <p class="dim">
      {completion.advantage === undefined ? "no advantage" : `advantage ${valueOf(completion.advantage)}`} ·{" "}
      <Money usd={completion.costUsd} isPlay={isPlay} />
    </p>
  </div>
)

const valueOf = (value: number): string => value.toFixed(2).replace("-", "\u2212")

const GroupCard = ({ group, isPlay }: { readonly group: Group; readonly isPlay: boolean }) => {
  const open = useSignal<string | undefined>(undefined)
  const { completions, isFlat, kind, messages, reference } = group
  const rewards = completions.flatMap(({ reward }) => reward ?? [])
  const question = Message.text(messages.findLast(({ role }) => role === "user"))
  return (
    <article class="group">
      <h3>{Format.oneLine(question, 240) || "Question without text"}</h3>
      <p class="dim">
        {Format.oneLine(kind, 40)}
        {reference !== undefined && ` · expected ${Format.oneLine(reference, 60)}`}
        {rewards.length > 0 && ` · mean reward ${valueOf(rewards.reduce((sum, one) => sum + one, 0) / rewards.length)}`}
        {isFlat && " · all rewards equal"}
      </p>
      <ol>
        {completions.map((completion) => {
          const { result, reward, rollout, round } = completion
          const key = `${rollout}.${round}`
          return (
            <li key={key}>
              <button
                type="button"
                class="rollout-line"
                aria-expanded={open.value === key}
                onClick={() => (open.value = open.value === key ? undefined : key)}
              >
                <span class="num">{round === 0 ? rollout : `${rollout}.${round}`}</span>
                <Mark state={states[result]} size={13} />
                <span
                  class={`clip tone-${result === "correct" ? "answered" : result === "wrong" ? "failed" : "quiet"}`}
                >
                  {result}
                </span>
                <span class="clip dim">{Format.oneLine(planText(completion), 120)}</span>
                <span class="num right">{reward === undefined ? "dropped" : valueOf(reward)}</span>
              </button>
              {open.value === key && <Details completion={completion} isPlay={isPlay} />}
            </li>
          )
        })}
      </ol>
    </article>
  )
}

/** Renders the rollouts of an iteration. */
export const Rollouts = ({
  isPlay,
  iteration,
  onIteration,
  opened: { id, isExcerpt = false, rollouts }
}: {
  readonly opened: Opened
  readonly iteration: number
  readonly isPlay: boolean
  readonly onIteration: (iteration: number) => void
}) => {
  const { error, retry, value: read } = useData<ReadonlyArray<Group>>(Listing.rolloutsPath(id, iteration - 1))
  // The previous iteration's groups stay visible until the next ones are loaded, so that the layout does not jump.
  const last = useRef(read)
  last.current = read ?? last.current
  const value = error === undefined ? last.current : undefined
  const at = rollouts.indexOf(iteration)
  const flat = value?.filter(({ isFlat }) => isFlat).length ?? 0
  return (
    <section class="card" aria-label="Rollouts">
      <header>
        <h2>Rollouts of iteration {iteration}</h2>
        {value !== undefined && (
          <span class="dim">
            {Format.counted(value.length, "group")}
            {isExcerpt ? ", one of each kind of task" : flat > 0 && `, ${flat} with equal rewards`}
          </span>
        )}
        <span class="grow" />
        <label class="slider">
          <span class="unseen">Iteration</span>
          <span class="dim num">{rollouts[0]}</span>
          <input
            type="range"
            min="0"
            max={rollouts.length - 1}
            value={at}
            aria-valuetext={`iteration ${iteration}`}
            onInput={(event) => onIteration(rollouts[Number(event.currentTarget.value)]!)}
          />
          <span class="dim num">{rollouts.at(-1)}</span>
        </label>
      </header>
      <div class="body">
        {value === undefined ? (
          error === undefined ? (
            <Skeleton rows={6} />
          ) : (
            <Failed isPart error={error} retry={retry} />
          )
        ) : (
          <div class="groups">
            {value.map((group) => (
              <GroupCard key={group.group} group={group} isPlay={isPlay} />
            ))}
          </div>
        )}
      </div>
    </section>
  )
}

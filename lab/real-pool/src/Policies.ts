/** Policies that are replayed over recorded calls. They were fixed before the unseen kinds were recorded. */

import * as Combined from "./Combined.ts"
import * as Options from "./Options.ts"
import * as Passages from "./Passages.ts"
import type { Question } from "./Questions.ts"
import type { Recorded } from "./Records.ts"
import { models, type Way, ways } from "./Ways.ts"

/** USD for a million tokens, prompt or generated, of a model with a billion weights: money is proportional to weights. */
export const usdPerMillion = 0.1

/** The result of a policy on one question. */
export interface Outcome {
  readonly correct: boolean
  /** Generated tokens. */
  readonly tokens: number
  readonly usd: number
}

/** The records of one question, by {@link nameOf}. */
export type Answers = ReadonlyMap<string, Recorded>

/** A policy as a function of the records of a question. */
export interface Policy {
  readonly name: string
  /** `undefined` if a record is missing. */
  readonly run: (answers: Answers, question: Question) => Outcome | undefined
}

/** Chooses one worker for a question; `undefined` before it has learned, `null` if it asks no worker. */
export interface Chooser {
  readonly name: string
  readonly choose: (question: Question) => string | null | undefined
}

/** The name of a record: `model/way`, with `#n` for the nth sample. */
export const nameOf = ({ model, sample, way }: Pick<Recorded, "model" | "way" | "sample">): string =>
  `${model}/${way}${sample === 0 ? "" : `#${sample}`}`

/** Each model in each way. */
export const workers: ReadonlyArray<string> = models.flatMap(({ id }) => ways.map((way) => `${id}/${way}`))

const weightsOf = new Map<string, number>(models.map(({ id, weights }) => [id, weights]))

/** The price of a recorded call, in USD. */
export const usdOf = ({ inputTokens, model, outputTokens }: Recorded): number =>
  ((inputTokens + outputTokens) / 1e6) * (weightsOf.get(model)! / 1e9) * usdPerMillion

/** Takes one answer, and pays for all records. */
const paying = (all: ReadonlyArray<Recorded>, { correct }: Pick<Recorded, "correct">): Outcome => ({
  correct,
  tokens: all.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  usd: all.reduce((sum, one) => sum + usdOf(one), 0)
})

const wrong = { correct: false }

const recordsOf = (answers: Answers, names: ReadonlyArray<string>): ReadonlyArray<Recorded> | undefined => {
  const found = names.flatMap((name) => answers.get(name) ?? [])
  return found.length === names.length ? found : undefined
}

const single = (name: string): Policy => ({
  name,
  run: (answers) => {
    const record = answers.get(name)
    return record && paying([record], record)
  }
})

/** The most frequent readable answer; of equals the one named first. */
const majority = (name: string, of: ReadonlyArray<string>): Policy => ({
  name,
  run: (answers) => {
    const records = recordsOf(answers, of)
    if (records === undefined) return undefined
    const readable = records.filter(({ extracted }) => extracted !== undefined)
    const groups = [...Map.groupBy(readable, ({ extracted }) => extracted).values()]
    return paying(records, groups.toSorted((a, b) => b.length - a.length)[0]?.[0] ?? wrong)
  }
})

/** Asks two; if they disagree, the third decides. */
const agreed = (name: string, [one, other, third]: readonly [string, string, string]): Policy => ({
  name,
  run: (answers) => {
    const pair = recordsOf(answers, [one, other])
    if (pair === undefined) return undefined
    if (pair[0]!.extracted !== undefined && pair[0]!.extracted === pair[1]!.extracted) return paying(pair, pair[0]!)
    const last = answers.get(third)
    return last && paying([...pair, last], last)
  }
})

/** Takes the first answer that passes the check: a program runs and prints something, or a text has an answer. */
const checked = (name: string, of: ReadonlyArray<string>): Policy => ({
  name,
  run: (answers) => {
    const tried: Array<Recorded> = []
    for (const each of of) {
      const record = answers.get(each)
      if (record === undefined) return undefined
      tried.push(record)
      if (record.extracted !== undefined) return paying(tried, record)
    }
    return paying(tried, wrong)
  }
})

/** The largest model answers with the options in four orders; the majority wins. */
const panel = majority("panel: four orders of the options, 1.5B", [
  `${Combined.model}/direct`,
  ...Combined.orders.map((way) => `${Combined.model}/${way}`)
])

/** Chooses between plans by the question only, without reading an answer. */
const byQuestion = (name: string, planOf: (question: Question) => Policy): Policy => ({
  name,
  run: (answers, question) => planOf(question).run(answers, question)
})

/** A call whose prompt contains recorded answers; their cost is included. */
const combined = (name: string, way: Combined.CombinedWay): Policy => ({
  name,
  run: (answers) => {
    const last = answers.get(`${Combined.model}/${way}`)
    const before = recordsOf(answers, Combined.before[way])
    return last && before && paying([...before, last], last)
  }
})

/** The prompted Conductor: the largest model reads the descriptions and chooses a worker, or answers itself. */
const prompted = (name: string, way: Combined.CombinedWay): Policy => ({
  name,
  run: (answers) => {
    const decision = answers.get(`${Combined.model}/${way}`)
    if (decision === undefined) return undefined
    if (decision.chosen === undefined) return paying([decision], decision)
    const chosen = answers.get(decision.chosen)
    return chosen && paying([decision, chosen], chosen)
  }
})

/** Asks the worker that a chooser names. Only questions with the records of the choices of all choosers count. */
const choosing =
  (choosers: ReadonlyArray<Chooser>) =>
  ({ choose, name }: Chooser): Policy => ({
    name,
    run: (answers, question) => {
      const isComplete = choosers.every((one) => {
        const chosen = one.choose(question)
        return chosen === null || (chosen !== undefined && answers.has(chosen))
      })
      if (!isComplete) return undefined
      const chosen = choose(question)
      if (chosen === null) return paying([], wrong)
      const record = answers.get(chosen!)!
      return paying([record], record)
    }
  })

/** The cheapest correct record, known only afterwards: an upper bound, not a policy. */
const oracle: Policy = {
  name: "oracle",
  run: (answers) => {
    const records = recordsOf(answers, workers)
    const cheapest = records?.toSorted((a, b) => usdOf(a) - usdOf(b))
    const chosen = cheapest?.find(({ correct }) => correct) ?? cheapest?.[0]
    return chosen && paying([chosen], chosen)
  }
}

const ofLargest = (way: Way): string => `${models[2].id}/${way}`
const ofMiddle = (way: Way): string => `${models[1].id}/${way}`

/** The number of samples of a worker that is voted on. */
export const samples = 5

const reading = combined("retriever and 1.5B: answers with passages of the documentation", "read")

const interpreted = checked("checked: 1.5B program that runs, else 1.5B steps", [
  ofLargest("program"),
  ofLargest("steps")
])

/**
 * The policy that is compared on the unseen kinds. It was fixed before they were recorded, so its p-values need no
 * correction for the number of policies.
 */
export const primary: Policy = byQuestion(
  "plan by rule: retriever, else panel, else interpreter, with the 1.5B",
  (question) => (Passages.isAbout(question) ? reading : Options.isLettered(question) ? panel : interpreted)
)

/** Asks the calculator first; its answers are known without records. */
const calculating = (calculated: ReadonlyMap<string, boolean>): Policy =>
  byQuestion("checked: calculator, else 1.5B program that runs, else 1.5B steps", ({ id }) => {
    const correct = calculated.get(id)
    return correct === undefined ? interpreted : { name: "calculator", run: () => paying([], { correct }) }
  })

const selfConsistency = (worker: string, votes: number): Policy =>
  majority(
    `self-consistency of ${votes}, ${worker}`,
    Array.from({ length: votes }, (_, at) => `${worker}#${at + 1}`)
  )

/**
 * All policies. `sampled` are the workers with samples, `choosers` those that choose by the question, and `calculated`
 * the questions that the calculator answers, each with whether it is right.
 */
export const all = (
  sampled: ReadonlyArray<string>,
  choosers: ReadonlyArray<Chooser>,
  calculated: ReadonlyMap<string, boolean>
): ReadonlyArray<Policy> => [
  ...workers.map(single),
  ...sampled.flatMap((worker) => [3, samples].map((votes) => selfConsistency(worker, votes))),
  majority(
    "majority of three models, direct",
    models.map(({ id }) => `${id}/direct`)
  ),
  majority("majority of three ways, 1.5B", ways.map(ofLargest)),
  majority("best of 3 with a check: majority of the programs that run", [
    ofLargest("program"),
    ofMiddle("program"),
    `${models[0].id}/program`
  ]),
  agreed("agreed: 0.5B and 1.5B direct, else 1.5B steps", [
    ofMiddle("direct"),
    ofLargest("direct"),
    ofLargest("steps")
  ]),
  agreed("agreed: 1.5B program and direct, else 1.5B steps", [
    ofLargest("program"),
    ofLargest("direct"),
    ofLargest("steps")
  ]),
  agreed("agreed: 0.5B and 1.5B program, else 1.5B steps", [
    ofMiddle("program"),
    ofLargest("program"),
    ofLargest("steps")
  ]),
  checked("checked: 0.5B program that runs, else 1.5B direct", [ofMiddle("program"), ofLargest("direct")]),
  interpreted,
  calculating(calculated),
  reading,
  panel,
  primary,
  combined("Mixture-of-Agents: three direct answers, combined by the 1.5B", "combine"),
  prompted("prompted Conductor, 1.5B, grammar", "choose"),
  prompted("prompted Conductor, 1.5B, grammar, may answer", "choose-or-answer"),
  ...choosers.map(choosing(choosers)),
  oracle
]

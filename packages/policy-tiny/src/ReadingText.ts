/**
 * Defines the prompt and completion of a reading Conductor. The completion has a line for each part of the question,
 * which names the worker and the checker, followed by the workflow that results from these choices.
 *
 * Every text is a sequence of pieces. Fixed pieces are determined by the preceding ones, as in a grammar; a choice is
 * one of several pieces, each with a probability.
 */

import { Prompt, WorkflowText } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import { text } from "@divisi/core/Message"
import * as ChoiceHead from "./ChoiceHead.ts"
import * as PartsPlan from "./PartsPlan.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The information about a worker that a prompt contains. */
export interface Colleague {
  readonly description?: string | undefined
  readonly pricing?: { readonly outputPerMillion: number } | undefined
}

/** The request contained in a prompt. */
export interface Asked {
  readonly question: string
  /** The workers, in the order of their indices. */
  readonly workers: ReadonlyArray<Colleague>
  /** Indices of the workers that failed to answer in an earlier round. */
  readonly failed: ReadonlyArray<number>
  readonly maxSteps: number
  /** Whether there is an answer that has not been rejected. */
  readonly isAnswered: boolean
}

/** A part of a question, with features for each worker and each earlier part. */
export interface Situation {
  readonly text: string
  readonly features: ChoiceHead.Features
  /** Cost of a call to each worker, in units of correct answers. */
  readonly costs: ReadonlyArray<number>
  /** Features of each earlier part, for deciding whether this part needs its answer. */
  readonly needs: ChoiceHead.Features
}

/** A piece of a text: fixed text, or a choice. */
export type Piece =
  | { readonly type: "forced"; readonly text: string }
  | {
      readonly type: "choice"
      /** The text of each option: one per worker by index, followed by the text for no worker. */
      readonly texts: ReadonlyArray<string>
      /** Log-probability of each text. */
      readonly logProbs: ReadonlyArray<number>
      /**
       * Adds to the head's gradient the gradient of the expected log-probability under a target distribution, times a
       * scale.
       */
      readonly addGradient: (sums: ChoiceHead.Weights, shares: ReadonlyArray<number>, scale: number) => void
    }

// -------------------------------------------------------------------------------------------------------------------
// The prompt
// -------------------------------------------------------------------------------------------------------------------

const answered = "It was answered."

const model = "{model} {price} {quoted}"

/**
 * The prompt template: the maximum number of steps, each worker's price and description, the question, and the outcome
 * of the previous round.
 */
const template: Prompt.Template = {
  ...Prompt.emptyTemplate,
  rules: ["{steps}"],
  pool: "{models}",
  model: { described: model, numbered: model, failed: `${model} failed` },
  question: "{quoted}",
  // Rejected answers and failed plans are not part of the prompt, because the model then plans from scratch.
  recursion: `${answered}{feedback}`,
  feedback: " {feedback}",
  failure: "",
  refusal: ""
}

/** Prompt options for a language policy with this model. */
export const options: Prompt.ConductorOptions = {
  template,
  examples: [],
  access: "fine-grained",
  descriptions: true
}

const colleague = (line: string) => {
  const found = /^\d+ (\S+) (".*")( failed)?$/s.exec(line)
  if (found === null) return []
  const [, price, quoted, failed] = found
  return {
    description: JSON.parse(quoted!) as string,
    pricing: price === "unknown" ? undefined : { outputPerMillion: Number(price) },
    isFailed: failed !== undefined
  }
}

/** Parses the request in a prompt created with {@link options}; returns `undefined` for any other prompt. */
export const asked = (messages: ReadonlyArray<Message>): Asked | undefined => {
  const [system = "", user = ""] = messages.map((message) => text(message))
  const rules = /^Rules:\n- (?:1 to )?(\d+) steps?\n\n/.exec(system)
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(user)
  if (rules === null || quoted === null) return undefined
  // If the Conductor is offered as a worker, its line is empty.
  const workers = system.slice(rules[0].length).split("\n").flatMap(colleague)
  return {
    question: JSON.parse(quoted[0]) as string,
    workers,
    failed: workers.flatMap(({ isFailed }, ordinal) => (isFailed ? [ordinal] : [])),
    maxSteps: Number(rules[1]),
    isAnswered: user.slice(quoted[0].length).trim() === answered
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The text
// -------------------------------------------------------------------------------------------------------------------

const nobody = "Nobody"
const alone = ".\n"

/** Returns the options for the answering worker: each worker's ordinal, and no worker. */
const answering = (count: number): ReadonlyArray<string> => [...ordinals(count).map((one) => `Worker ${one}`), nobody]

/** Returns the options for the checking worker: each worker's ordinal, and no worker. */
const checking = (count: number): ReadonlyArray<string> => [
  ...ordinals(count).map((one) => `, and worker ${one} checks.\n`),
  alone
]

/** Returns the options that determine whether a part receives the answer of an earlier part. */
const given = (part: number): readonly [without: string, needed: string] => [
  `, without part ${part + 1}`,
  `, given part ${part + 1}`
]

const ordinals = (count: number) => Array.from({ length: count }, (_, ordinal) => ordinal)

const answersPart = " answers part "

/** Upper bound for the number of parts that a question is split into. */
const mostParts = 20

/** Returns all option texts for the given number of workers, and the fixed texts between them, for a tokenizer. */
export const pieces = (count: number): ReadonlyArray<string> => [
  ...answering(count),
  ...checking(count),
  ...ordinals(mostParts).flatMap(given),
  answersPart
]

const refused = "Nobody on the team seems to be able to answer this."

/** Returns the refusal at the end of a text, if no worker was chosen for some part. */
export const refusal = (written: string): string | undefined => (written.endsWith(refused) ? refused : undefined)

/**
 * Generates the pieces of the text in order. After yielding a choice, it expects the index of the chosen text.
 *
 * **Details**
 *
 * An answer that was not rejected is accepted. Otherwise, each part gets the chosen worker, and a checker if one is
 * chosen; failed workers are excluded. The workflow's lists follow, or a refusal if some part has no worker.
 */
export function* write(
  head: ChoiceHead.Weights,
  { failed, isAnswered, maxSteps, workers }: Asked,
  situations: ReadonlyArray<Situation>
): Generator<Piece, void, number> {
  if (isAnswered) {
    yield { type: "forced", text: `The answer stands.\n${WorkflowText.write({ steps: [] })}` }
    return
  }
  const count = workers.length
  const [answers, checks] = [answering(count), checking(count)]
  const parts: Array<PartsPlan.Part> = []
  for (const [index, situation] of situations.entries()) {
    const { text } = situation
    const team: ChoiceHead.Team = { ...situation, without: failed }
    const odds = ChoiceHead.odds(head, team)
    const worker: number = yield {
      type: "choice",
      texts: answers,
      logProbs: odds.worker,
      addGradient: (sums, shares, scale) => ChoiceHead.addGradient(sums, head, team, { worker: shares }, scale)
    }
    yield { type: "forced", text: `${answersPart}${index + 1}` }
    if (worker === count) {
      yield { type: "forced", text: alone }
      parts.push({ text, needs: [], worker })
      continue
    }
    const needs: Array<number> = []
    for (const [earlier, own] of situation.needs.entries()) {
      const isNeeded: number = yield {
        type: "choice",
        texts: given(earlier),
        logProbs: ChoiceHead.needOdds(head, own),
        addGradient: (sums, shares, scale) => ChoiceHead.addNeedGradient(sums, head, own, shares, scale)
      }
      if (isNeeded === 1) needs.push(earlier)
    }
    const checker: number = yield {
      type: "choice",
      texts: checks,
      logProbs: odds.checker(worker),
      addGradient: (sums, shares, scale) =>
        ChoiceHead.addGradient(sums, head, team, { checker: { given: worker, shares } }, scale)
    }
    parts.push({ text, needs, worker, checker: checker === count ? undefined : checker })
  }
  const isRefused = parts.some(({ worker }) => worker === count)
  yield { type: "forced", text: isRefused ? refused : WorkflowText.write(PartsPlan.make(parts, maxSteps)) }
}

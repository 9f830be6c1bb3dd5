/** What actually happened in a simulation, as recorded by its workers and independently of the code under test. */
import { type Message, text } from "@divisi/core/Message"
import type { WorkerRequest } from "@divisi/core/Worker"

/** A call as its worker got it. */
export interface Asked {
  readonly worker: string
  readonly messages: ReadonlyArray<Message>
}

/** Each text of a worker has a unique mark, so that all readers of the text can be found. */
const mark = /⟦[^⟧]*⟧/g

/** The marks in the given texts. */
export const marksOf = (...texts: ReadonlyArray<string | undefined>): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => text?.match(mark) ?? []))

/** The address of a subtask, which is part of its text. */
export const address = (task: string, round: number, step: number): string => `<${task}|${round}|${step}>`

/** The address in the subtask of a request. The address of a nested question comes before it. */
export const addressOf = ({ messages }: Pick<Asked, "messages">): string | undefined =>
  text(messages.at(-1))
    .match(/<[^<>|]*\|\d+\|\d+>/g)
    ?.at(-1)

/** A witness of one simulation. */
export interface Witness {
  readonly asked: ReadonlyArray<Asked>
  /** The number of calls. A call that is stopped in its first moment counts, although no worker was called. */
  readonly calls: () => number
  /** The whole answers that were given, by worker. */
  readonly answers: ReadonlySet<string>
  readonly problems: ReadonlyArray<string>
  /** Calls that have been opened and not closed. */
  readonly open: () => number
  /** The calls that never end by themselves. */
  readonly hanging: () => number
  readonly called: () => void
  /** A worker reads a request; returns a number for its answer. */
  readonly ask: (worker: string, request: WorkerRequest) => number
  readonly answer: (worker: string, text: string) => void
  /** A stream was opened, or is closed. */
  readonly opened: () => void
  readonly closed: () => void
  readonly hang: (by: 1 | -1) => void
  readonly complain: (problem: string) => void
}

/** The name of an answer among all that were given. */
export const answerKey = (worker: string, text: string): string => `${worker}\n${text}`

export const make = (): Witness => {
  const asked: Array<Asked> = []
  const answers = new Set<string>()
  const problems: Array<string> = []
  let calls = 0
  let open = 0
  let hanging = 0
  return {
    asked,
    answers,
    problems,
    calls: () => calls,
    called: () => {
      calls += 1
    },
    open: () => open,
    hanging: () => hanging,
    ask: (worker, { messages }) => asked.push({ worker, messages }) - 1,
    answer: (worker, text) => answers.add(answerKey(worker, text)),
    opened: () => {
      open += 1
    },
    closed: () => {
      open -= 1
    },
    hang: (by) => {
      hanging += by
    },
    complain: (problem) => problems.push(problem)
  }
}

/** Invariants for a run that survives its processes: for its journal, its tools and the calls to its vendors. */
import { Journal } from "@divisi/core"
import type { Spend } from "@divisi/core/Usage"
import type { Written } from "./FaultyJournal.ts"

type Problems = ReadonlyArray<string>

const isCall = (entry: Journal.Entry): entry is Journal.CallEntry => "call" in entry

/** Whoever is asked stands in the journal before. */
export const ofIntents = (entries: ReadonlyArray<Journal.Entry>, asked: number): string | undefined => {
  const intents = entries.filter(({ type }) => type === "intent").length
  return asked <= intents ? undefined : `${asked} calls were sent, and ${intents} stood in the journal before`
}

/** A handler begins after its call stands in the journal. */
export const ofBegunTool = (entries: ReadonlyArray<Journal.Entry>, call: string): string | undefined => {
  const events = entries.flatMap((entry) => (entry.type === "event" ? [entry.event] : []))
  const isThere = events.some((event) => {
    if (event.type !== "turn-finished") return false
    const { round, runId, step, toolCalls, turn } = event
    const index = toolCalls.findIndex(({ id }) => `${round}.${step} ${id}` === call)
    return events.some(
      (one) =>
        one.type === "tool-started" &&
        one.runId === runId &&
        one.round === round &&
        one.step === step &&
        one.turn === turn &&
        one.index === index
    )
  })
  return isThere ? undefined : `a handler has begun with ${call}, which did not stand in the journal`
}

/** Whether what a check has found of an answer stands in the journal. */
export const hasVerdict = (entries: ReadonlyArray<Journal.Entry>, check: string, answer: string): boolean => {
  const events = entries.flatMap((entry) => (entry.type === "event" ? [entry.event] : []))
  return events.some(
    (event) =>
      event.type === "step-finished" &&
      event.answer === answer &&
      events.some(
        (one) =>
          one.type === "step-checked" &&
          one.check === check &&
          one.worker === event.worker &&
          one.runId === event.runId &&
          one.round === event.round &&
          one.step === event.step
      )
  )
}

/** A tool that changes something is called once, whatever happens. */
export const ofTools = (
  begun: ReadonlyArray<{ readonly name: string; readonly call: string }>,
  repeatable: string
): Problems => {
  const once = begun.filter(({ name }) => name !== repeatable).map(({ call, name }) => `${name} ${call}`)
  return once.length === new Set(once).size ? [] : [`a tool that may not be repeated was: ${once.join(", ")}`]
}

/** A run at its end, as its journal has it. */
interface Ended {
  readonly runId: string
  readonly entries: ReadonlyArray<Journal.Entry>
  readonly log: ReadonlyArray<Written>
  /** What its vendors were asked. */
  readonly calls: number
  readonly spend: Spend
}

const isPaid = (entry: Journal.CallEntry): boolean =>
  entry.type === "answered" ||
  entry.type === "interrupted" ||
  entry.type === "lost" ||
  (entry.type === "failed" && entry.unasked !== true)

/** What is wrong with the calls of a journal: one is asked again after its answer is there, or ends twice. */
const ofCalls = (calls: ReadonlyArray<Journal.CallEntry>): Problems => {
  const answered = new Set<string>()
  const ended = new Set<string>()
  return calls.flatMap((entry) => {
    const { attempt, call, type } = entry
    const name = `${call}/${attempt}`
    if (type === "intent") return answered.has(call) ? [`${name} is asked after ${call} was answered`] : []
    if (type === "withdrawn") return []
    const problems = ended.has(name) ? [`${name} ends twice`] : []
    ended.add(name)
    if (type === "answered" || type === "found") answered.add(call)
    return problems
  })
}

/** Each answer of a step stands in the journal as one that was paid. */
const ofAnswers = (entries: ReadonlyArray<Journal.Entry>): Problems => {
  const paid = new Set<string>()
  return entries.flatMap((entry) => {
    if (entry.type === "answered" || entry.type === "found") {
      const { text } = entry.answer as { readonly text: string }
      paid.add(text)
    }
    if (entry.type !== "event" || entry.event.type !== "step-finished" || !entry.event.answer.startsWith("⟦")) return []
    const { answer, costUsd } = entry.event
    // The answer of a nested run is paid in its own steps.
    return costUsd === 0 || paid.has(answer) ? [] : [`${answer} is used before it stands in the journal`]
  })
}

/** What is wrong with the journal of a run that has ended. */
export const ofJournal = ({ calls: asked, entries, log, runId, spend }: Ended): Problems => {
  const problems: Array<string> = []
  const own = Journal.eventsOf(entries).filter((event) => event.type === "run-finished" && event.runId === runId)
  if (own.length !== 1) problems.push(`the journal has ${own.length} ends`)
  const written = log.reduce((sum, { entries }) => sum + entries, 0)
  if (written !== entries.length) problems.push(`${written} entries were acknowledged, and ${entries.length} are there`)
  for (let at = 1; at < log.length; at++)
    if (log[at]!.epoch < log[at - 1]!.epoch) problems.push(`epoch ${log[at]!.epoch} writes after ${log[at - 1]!.epoch}`)
  const calls = entries.filter(isCall)
  const paid = calls.filter(isPaid)
  if (asked > paid.length) problems.push(`${asked} calls were sent, and ${paid.length} are told`)
  if (paid.length !== spend.calls) problems.push(`${paid.length} calls are in the journal, ${spend.calls} were charged`)
  const cost = paid.reduce((sum, entry) => sum + ("costUsd" in entry ? (entry.costUsd ?? 0) : 0), 0)
  if (Math.abs(cost - spend.costUsd) > 1e-9) problems.push(`${cost} USD in the journal, ${spend.costUsd} were charged`)
  return [...problems, ...ofCalls(calls), ...ofAnswers(entries)]
}

/**
 * A transcript without values that depend on time and without ids of charges, which count attempts; and without calls
 * that were stopped or lost, or all that failed if the run was resumed after its end, which tries them again.
 */
export const timeless = (transcript: unknown, isReopened: boolean): string =>
  JSON.stringify(transcript, (key, value) => {
    if (/At$|^at$|Millis$/.test(key) || key === "spend" || key === "chargeId") return undefined
    // Present only if both have the same time.
    if (key === "isBeforeCompletion") return undefined
    if (key === "lost")
      return isReopened ? [] : value.filter(({ reason }: { readonly reason?: unknown }) => reason !== undefined)
    return typeof value === "number" ? Number(value.toPrecision(9)) : value
  })

/** Where two texts differ. */
export const difference = (one: string, other: string): string => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const from = Math.max(0, at - 60)
  return `…${one.slice(from, at + 100)} instead of …${other.slice(from, at + 100)}`
}

/**
 * Asks the user whether a tool may run. Only one question is shown at a time, and the answer "always" is remembered.
 */
import type { Price, RunEvent, Tool } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { clean, oneLine } from "./Line.ts"
import * as PlanPrice from "./PlanPrice.ts"

/**
 * Shows lines to the user, and returns the text that the user enters after the last line. `undefined` if the input has
 * ended.
 */
export type Ask = (lines: ReadonlyArray<string>) => Effect.Effect<string | undefined>

/** Maximum length of displayed arguments, in characters. Large, because omitted text could be the important part. */
const mostCharacters = 4_000

/** Formats arguments for display. They are complete unless they are too long for a terminal. */
const argumentsOf = (text: string): ReadonlyArray<string> => {
  const shown = text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)} … (${text.length} characters)`
  return clean(pretty(shown)).split("\n")
}

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

const questionOf = ({ call, worker }: Tool.ToolContext): ReadonlyArray<string> => [
  `${oneLine(worker)} requests the tool ${oneLine(call.name)}:`,
  ...argumentsOf(call.arguments).map((line) => `  ${line}`)
]

const prompt = "Run it? (y)es, (n)o, (a)lways for this tool: "

/** Parses the user's answer. `undefined` if the question must be repeated. */
const read = (said: string | undefined): "yes" | "no" | "always" | undefined => {
  // Without an answer, the tool is not allowed.
  if (said === undefined) return "no"
  return (["yes", "no", "always"] as const).find(
    (word) => said.trim() !== "" && word.startsWith(said.trim().toLowerCase())
  )
}

/** Formats the plan to approve, with its price. */
const planLines = (text: string, isPlay: boolean): ReadonlyArray<string> => {
  const { plan, price } = JSON.parse(text) as { readonly plan: string; readonly price: Price.Price }
  return [...clean(plan).trimEnd().split("\n"), ...PlanPrice.lines(price, isPlay)].map((line) => `  ${line}`)
}

const planPrompt = "Run this plan? (y)es, (n)o: "

/** Asks the user whether a plan may run. */
export const ofPlan =
  (ask: Ask, isPlay: boolean) =>
  ({ call, worker }: RunEvent.WaitingCall): Effect.Effect<{ readonly approved: boolean }> =>
    Effect.gen(function* () {
      const question = [`${oneLine(worker)} plans:`, ...planLines(call.arguments, isPlay), planPrompt]
      let answer = read(yield* ask(question))
      while (answer === undefined) answer = read(yield* ask(question))
      return { approved: answer !== "no" }
    })

/** Creates an approval function that uses the given prompt. Tools that are always allowed are not asked about again. */
export const make = (): ((ask: Ask) => (request: Tool.ToolContext) => Effect.Effect<boolean>) => {
  const allowed = new Set<string>()
  const asking = Semaphore.makeUnsafe(1)
  return (ask) => (request) =>
    asking.withPermits(1)(
      Effect.gen(function* () {
        const { name } = request.call
        if (allowed.has(name)) return true
        const question = [...questionOf(request), prompt]
        let answer = read(yield* ask(question))
        while (answer === undefined) answer = read(yield* ask(question))
        if (answer === "always") allowed.add(name)
        return answer !== "no"
      })
    )
}

/** Asks a person whether a tool may be run. Only one question is open at a time, and "always" is remembered. */
import type { Price, RunEvent, Tool } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { clean, oneLine } from "./Line.ts"
import * as PlanPrice from "./PlanPrice.ts"

/** Shows lines to a person, and returns the text typed after the last; `undefined` if the input has ended. */
export type Ask = (lines: ReadonlyArray<string>) => Effect.Effect<string | undefined>

/** Hidden text could be the important part, so little is omitted. */
const mostCharacters = 4_000

/** Arguments as people read them: all of them, but for texts that no terminal holds. */
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

const prompt = "Run it? (y)es, (n)o, (a)lways this tool: "

/** Parses a person's answer; `undefined` if the question must be repeated. */
const read = (said: string | undefined): "yes" | "no" | "always" | undefined => {
  // Without an answer, the tool is not allowed.
  if (said === undefined) return "no"
  return (["yes", "no", "always"] as const).find(
    (word) => said.trim() !== "" && word.startsWith(said.trim().toLowerCase())
  )
}

/** The plan that waits, with its price. */
const planLines = (text: string): ReadonlyArray<string> => {
  const { plan, price } = JSON.parse(text) as { readonly plan: string; readonly price: Price.Price }
  return [...clean(plan).trimEnd().split("\n"), ...PlanPrice.lines(price)].map((line) => `  ${line}`)
}

const planPrompt = "Run this plan? (y)es, (n)o: "

/** Asks a person whether a plan may run. */
export const ofPlan =
  (ask: Ask) =>
  ({ call, worker }: RunEvent.WaitingCall): Effect.Effect<{ readonly approved: boolean }> =>
    Effect.gen(function* () {
      const question = [`${oneLine(worker)} plans:`, ...planLines(call.arguments), planPrompt]
      let answer = read(yield* ask(question))
      while (answer === undefined) answer = read(yield* ask(question))
      return { approved: answer !== "no" }
    })

/** Creates a prompt over a way of asking. Tools that are always allowed cause no question. */
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

/** The calls for completions. They are ordinary calls, parsed as soon as they arrive. Loaded on first use. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { defined } from "../Fields.ts"
import type * as Policy from "../policy/Policy.ts"
import * as Seed from "../Seed.ts"
import { messageOf } from "../Thrown.ts"
import type { Answered, CallContext } from "./call.ts"
import { noteFailure } from "./laterReports.ts"
import { numbering } from "./numbering.ts"
import type { Asked, Completions } from "./proposal.ts"

const nothing: Policy.ModelResponse = { text: "", toolCalls: [], reasoning: "", finishReason: "stop" }

const saidIn = ({ echo, finishReason, reasoning = "", text, toolCalls = [] }: Answered): Policy.ModelResponse =>
  defined({ text, toolCalls, reasoning, finishReason, echo })

/** Creates the function that requests a round's completions. They are numbered after those counted in `asked`. */
export const completionCalls = (
  context: CallContext,
  round: number,
  seed: number,
  asked: Asked
): Pick<Completions, "complete" | "addedMillis"> => {
  const { emit } = context
  const first = asked.count
  let addedMillis = 0
  const sampleOf = (attempt: number) => Seed.derive(seed, "completion", attempt)
  const numbers = numbering(context, { by: "policy", round }, sampleOf, first)
  const complete: Policy.Complete = ({ attempt: own, model, read, request }) =>
    numbers.call(
      { worker: model, request },
      ({ digest, isNew, sample, turn: attempt }) => {
        asked.count = Math.max(asked.count, attempt + 1)
        const onDelta =
          emit &&
          ((kind: "text" | "reasoning", text: string) => emit({ type: "completion-delta", round, attempt, kind, text }))
        let said: Policy.ModelResponse = nothing
        let reading: ReturnType<typeof read> | undefined
        let thrown: unknown
        const onAnswer = (answered: Answered) => {
          const {
            addedMillis: added,
            cached,
            costUsd,
            finishReason,
            origin,
            text: completion,
            toolCalls,
            usage
          } = answered
          said = saidIn(answered)
          asked.said.push(said)
          addedMillis += added
          try {
            reading = read(completion, said)
          } catch (error) {
            thrown = error
          }
          const error =
            reading === undefined ? messageOf(thrown) : Result.isFailure(reading) ? reading.failure.message : undefined
          const ending = finishReason === "stop" ? undefined : finishReason
          const told = { type: "completion-finished", round, attempt, completion, error, cached, origin } as const
          // The vendor needs its data back if the conversation continues with tool results.
          const echo = toolCalls === undefined ? undefined : said.echo
          emit?.({ ...defined({ ...told, toolCalls, finishReason: ending, echo, request: digest() }), usage, costUsd })
        }
        const made = context.call({
          worker: model,
          request,
          sample,
          round,
          by: "policy",
          turn: attempt,
          isNew,
          onDelta,
          onAnswer
        })
        return Effect.flatMap(noteFailure(context, { round }, made), () =>
          reading === undefined
            ? Effect.die(thrown)
            : Effect.succeed({ completion: said.text, reading, said, attempt: attempt - first, echo: said.echo })
        )
      },
      own === undefined ? undefined : first + own
    )
  return { complete, addedMillis: () => addedMillis }
}

/** `divisi rate`: its flags and help. What it does is loaded when it is called. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { paragraphs, text, toggle } from "../invocation/flags.ts"

const words: Readonly<Record<string, number>> = { up: 1, good: 1, down: 0, bad: 0 }

/** The score behind a word or a number; `undefined` where it is none. */
export const scoreOf = (text: string): number | undefined => {
  const score = words[text] ?? (/^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN)
  return score >= 0 && score <= 1 ? score : undefined
}

const rateFlags = {
  score: Argument.String("score").pipe(
    Argument.withDescription("up or down, good or bad, or a number from 0 to 1"),
    Argument.filterMap(
      (text) => Option.fromUndefinedOr(scoreOf(text)),
      () => "Expected up, down, good, bad, or a number from 0 to 1"
    )
  ),
  run: Argument.String("run").pipe(
    Argument.withDescription("The id of a run, or its beginning; the last run by default"),
    Argument.optional
  ),
  step: Flag.String("step").pipe(
    Flag.filter(
      (text) => /^\d+\.\d+$/.test(text),
      () => "Expected a round and a step, counted from 0, such as 0.2"
    ),
    Flag.withMetavar("<round.step>"),
    Flag.withDescription("Rate one step's answer instead of the run's"),
    Flag.optional
  ),
  source: Flag.Literals("source", ["user", "grader", "check", "implicit", "judge"]).pipe(
    Flag.withDescription("Who says so: user (default), or a program of yours that rates"),
    Flag.withDefault("user")
  ),
  note: text("note", "<text>", "What you have to say of it, kept with the rating"),
  json: toggle("json", "Print what was rated as JSON")
}

/** What `divisi rate` is asked for. */
export type RateInput = Command.Command.Config.Infer<typeof rateFlags>

export const rate = Command.make("rate", rateFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Rate.ts")),
    (Rate) => Rate.rate(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Says how good an answer was, for `divisi learn`. Runs of `divisi run` with workers of your own are noted in a log",
      "on this machine: who answered, at what cost, in what time, and where the question lies among others; not its text.",
      "DIVISI_OUTCOMES names the log, or says none.",
      "",
      "A later rating of the same source replaces an earlier one; a grader's counts before a person's, and that before a",
      "judge's."
    )
  ),
  Command.withExamples([
    { command: "divisi rate up", description: "The last run was good" },
    { command: "divisi rate 0.3 4f1c", description: "So far right, of the run whose id begins so" },
    { command: "divisi rate down --step 0.1", description: "One step of the last run" }
  ])
)

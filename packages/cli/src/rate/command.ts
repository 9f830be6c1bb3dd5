/** Defines `divisi rate` with its flags and help. The implementation is loaded on demand. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { choice, paragraphs, text, toggle } from "../invocation/flags.ts"

const words: Readonly<Record<string, number>> = { up: 1, good: 1, down: 0, bad: 0 }

/** Converts a word or number to a score. Returns `undefined` if it is invalid. */
export const scoreOf = (text: string): number | undefined => {
  const score = words[text] ?? (/^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN)
  return score >= 0 && score <= 1 ? score : undefined
}

const rateFlags = {
  score: Argument.String("score").pipe(
    Argument.withDescription("Score: up, down, good, bad, or a number from 0 to 1"),
    Argument.filterMap(
      (text) => Option.fromUndefinedOr(scoreOf(text)),
      () => "Expected up, down, good, bad, or a number from 0 to 1"
    )
  ),
  run: Argument.String("run").pipe(
    Argument.withDescription("Id of a run, or an id prefix. Default: the last `divisi run`"),
    Argument.optional
  ),
  step: Flag.String("step").pipe(
    Flag.filter(
      (text) => /^\d+\.\d+$/.test(text),
      () => "Expected round.step, counted from 0, such as 0.2"
    ),
    Flag.withMetavar("<round.step>"),
    Flag.withDescription("Rate the answer of one step instead of the whole run"),
    Flag.optional
  ),
  source: choice("source", ["user", "grader", "check", "implicit", "judge"]).pipe(
    Flag.withDescription(
      "Source of the rating: user, grader, check, implicit (user behavior) or judge (a model) (default user)"
    ),
    Flag.withDefault("user")
  ),
  note: text("note", "<text>", "Comment, stored with the rating"),
  json: toggle("json", "Print the rating as JSON")
}

/** Parsed flags of `divisi rate`. */
export type RateInput = Command.Command.Config.Infer<typeof rateFlags>

export const rate = Command.make("rate", rateFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Rate.ts")),
    (Rate) => Rate.rate(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Rate an answer for `divisi learn`. `divisi run` keeps a local log of runs with your own workers. The log contains the",
      "worker, the cost, the time and the embedding of the question, but not its text. DIVISI_OUTCOMES sets the log",
      "file; `none` disables it.",
      "",
      "A later rating from the same source replaces an earlier one. A grader's rating takes precedence over a person's, and",
      "a person's over a judge model's."
    )
  ),
  Command.withExamples([
    { command: "divisi rate up", description: "Rate the last run as good" },
    { command: "divisi rate 0.3 4f1c", description: "Rate a run as partly correct, by id prefix" },
    { command: "divisi rate down --step 0.1", description: "Rate one step of the last run" }
  ])
)

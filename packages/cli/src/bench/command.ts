/** Defines `divisi bench` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { routingFlags } from "./flags.ts"

const routing = Command.make("routing", routingFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Routing.ts")),
    (Routing) => Routing.routing(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Compare routers on recorded outcomes. Each router trains on 70% of the questions (or kinds) and is tested on the",
      "rest, in ten random splits. The baseline is the worker with the best training score. No model is called."
    )
  ),
  Command.withShortDescription("Compare routers on recorded outcomes"),
  Command.withExamples([
    {
      command: "divisi bench routing --outcomes outcomes.jsonl.gz",
      description: "Hold out questions"
    },
    {
      command: "divisi bench routing --outcomes outcomes.jsonl.gz --split kind --json",
      description: "Hold out whole kinds of questions"
    }
  ])
)

export const bench = Command.make("bench").pipe(
  Command.withDescription("Compare routers on recorded outcomes, without calling a model."),
  Command.withSubcommands([routing])
)

/** Defines `divisi studio` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const studio = Command.make("studio", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Studio.ts")),
    (Studio) => Studio.studio(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Serve a local page that lists runs and shows the plan, waterfall, messages and cost of each.",
      "",
      "Runs in a journal are updated live. `divisi serve` has the same page at /studio. No API key or network is needed."
    )
  ),
  Command.withExamples([
    { command: "divisi studio", description: "Show your durable runs" },
    { command: "divisi studio evaluation/transcripts", description: "Show the transcripts in a folder" },
    { command: "divisi studio run.json --export run.html", description: "Write one file that opens anywhere" }
  ])
)

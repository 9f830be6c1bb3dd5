/** Defines `divisi workflow` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { choice, paragraphs, toggle } from "../invocation/flags.ts"
import { formats, reading } from "./flags.ts"

const plan = <A, E, R>(use: (module: typeof import("./Workflows.ts")) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.promise(() => import("./Workflows.ts")),
    use
  )

const check = Command.make("check", reading, (input) => plan((Plan) => Plan.check(input))).pipe(
  Command.withDescription(
    "Check whether a completion is a valid workflow. If not, show the position and the reason (exit code 1)."
  ),
  Command.withShortDescription("Check whether a completion is a valid workflow"),
  Command.withExamples([
    { command: "divisi workflow check completion.txt --pool-size 7", description: "Check a plan for a pool of seven" }
  ])
)

const render = Command.make(
  "render",
  {
    ...reading,
    format: choice("format", formats).pipe(
      Flag.withDescription("Output format (default text)"),
      Flag.withDefault("text")
    )
  },
  (input) => plan((Plan) => Plan.render(input))
).pipe(
  Command.withDescription("Draw a workflow."),
  Command.withShortDescription("Draw a workflow"),
  Command.withExamples([
    { command: "divisi workflow render completion.txt", description: "Draw in the terminal" },
    { command: "divisi workflow render completion.txt --format svg > plan.svg", description: "Write an SVG image" }
  ])
)

const read = Command.make(
  "read",
  {
    ...reading,
    lines: toggle("lines", "Read one JSON string per line, and print one JSON result per line")
  },
  (input) => plan((Plan) => (input.lines ? Plan.readLines(input) : Plan.read(input)))
).pipe(
  Command.withDescription(
    paragraphs(
      'Print the workflow in a completion as JSON: {"steps":[{"worker":1,"subtask":"…","access":"all"}]}.',
      "",
      "With --lines, each input line is a JSON string with one completion, and each output line is its",
      'result: {"ok":true,"workflow":…} or {"ok":false,"error":{"line":…,"column":…,"message":…}}. The',
      "exit code is 0 even if some completions cannot be read."
    )
  ),
  Command.withShortDescription("Print the workflow in a completion as JSON"),
  Command.withExamples([
    { command: "divisi workflow read completion.txt", description: "Read one completion" },
    { command: "divisi workflow read --lines completions.jsonl > results.jsonl", description: "Read many completions" }
  ])
)

export const workflow = Command.make("workflow").pipe(
  Command.withDescription("Check and draw workflows written by models."),
  Command.withSubcommands([check, render, read])
)

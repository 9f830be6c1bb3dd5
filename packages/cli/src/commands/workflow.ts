/** `divisi workflow`: its subcommands, flags and help. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { paragraphs, toggle, whole } from "./flags.ts"

const reading = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The completion, as a model wrote it; - or nothing reads standard input"),
    Argument.withDefault("-")
  ),
  strict: toggle("strict", "Accept only what Python's ast.literal_eval accepts, and nothing around the three lists"),
  poolSize: whole("pool-size", 1).pipe(
    Flag.withMetavar("<n>"),
    Flag.withDescription("How many workers there are; any index is accepted by default"),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(
    Flag.withMetavar("<n>"),
    Flag.withDescription("The most steps (default 5)"),
    Flag.withDefault(5)
  ),
  allowEmpty: toggle("allow-empty", "Accept three empty lists, which let the previous answer stand in a later round")
}

/** What all of `divisi workflow` is asked for. */
export type Reading = Command.Command.Config.Infer<typeof reading>

const formats = ["text", "mermaid", "dot", "svg"] as const

/** How a workflow can be drawn. */
export type Format = (typeof formats)[number]

const plan = <A, E, R>(use: (module: typeof import("../plan/Plan.ts")) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.promise(() => import("../plan/Plan.ts")),
    use
  )

const check = Command.make("check", reading, (input) => plan((Plan) => Plan.check(input))).pipe(
  Command.withDescription("Says whether a completion is a valid workflow; if not, shows where and why (exit code 1)."),
  Command.withShortDescription("Say whether a completion is a valid workflow"),
  Command.withExamples([
    { command: "divisi workflow check completion.txt --pool-size 7", description: "Check for a pool of seven" }
  ])
)

const render = Command.make(
  "render",
  {
    ...reading,
    format: Flag.Literals("format", formats).pipe(Flag.withDescription("How (default text)"), Flag.withDefault("text"))
  },
  (input) => plan((Plan) => Plan.render(input))
).pipe(
  Command.withDescription("Draws a workflow."),
  Command.withExamples([
    { command: "divisi workflow render completion.txt", description: "In the terminal" },
    { command: "divisi workflow render completion.txt --format svg > plan.svg", description: "As a picture" }
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
      'Prints the workflow of a completion as JSON: {"steps":[{"worker":1,"subtask":"…","access":"all"}]}.',
      "",
      "With --lines, every line of the input is a JSON string that holds one completion, and every line of the output",
      'the result for it: {"ok":true,"workflow":…} or {"ok":false,"error":{"line":…,"column":…,"message":…}}. Unreadable',
      "completions are then results like others: the exit code is 0."
    )
  ),
  Command.withShortDescription("Print the workflow of a completion as JSON"),
  Command.withExamples([
    { command: "divisi workflow read completion.txt", description: "One completion" },
    { command: "divisi workflow read --lines completions.jsonl > results.jsonl", description: "A whole file of them" }
  ])
)

export const workflow = Command.make("workflow").pipe(
  Command.withDescription("Reads, checks and draws the workflows that models write."),
  Command.withShortDescription("Read, check and draw workflows"),
  Command.withSubcommands([check, render, read])
)

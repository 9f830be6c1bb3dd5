/** Defines `divisi train` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { exportFlags, flags, reportFlags, resumeFlags } from "./flags.ts"

const training = Effect.promise(() => import("./Train.ts"))

const resume = Command.make("resume", resumeFlags, (input) =>
  Effect.flatMap(training, ({ resume }) => resume(input))
).pipe(
  Command.withDescription("Resume a training run from its last checkpoint."),
  Command.withShortDescription("Resume a run"),
  Command.withExamples([
    { command: "divisi train resume runs/gym", description: "Resume after Ctrl-C, a crash or a power cut" },
    { command: "divisi train resume runs/gym --max-cost 20", description: "Raise the cost limit" }
  ])
)

const report = Command.make("report", reportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./ReportFile.ts")),
    ({ write }) => write(input)
  )
).pipe(
  Command.withDescription(
    "Write a one-page report of a training run: curves, worker shares, and workflows from the start and the end of training."
  ),
  Command.withShortDescription("Write a report page"),
  Command.withExamples([{ command: "divisi train report runs/gym", description: "Write runs/gym/report.html" }])
)

const exporting = Command.make("export", exportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Export.ts")),
    ({ write }) => write(input)
  )
).pipe(
  Command.withDescription("Export the weights of a training run."),
  Command.withShortDescription("Export the weights"),
  Command.withExamples([
    {
      command: "divisi train export runs/gym --to gguf --out conductor.gguf",
      description: "Export the best checkpoint"
    },
    {
      command: "divisi train export runs/gym --to gguf --checkpoint 40 --out conductor.gguf",
      description: "Export the state after 40 iterations"
    }
  ])
)

export const train = Command.make("train", flags, (input) =>
  Effect.flatMap(training, ({ start }) => start(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Train a Conductor model, which plans runs, by reinforcement learning. The training run is stored in a folder and can",
      "be resumed at any time.",
      "",
      "A recipe defines the model, tasks, workers and phases. Define your own recipes under `recipes` in the config. Ctrl-C",
      "stops at a checkpoint. If OTEL_EXPORTER_OTLP_ENDPOINT is set, metrics are sent to that address.",
      "",
      "Exit codes: 0 done, 1 failed, 2 usage or config error, 3 stopped by --max-cost, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withSubcommands([resume, report, exporting]),
  Command.withExamples([
    { command: "divisi train --recipe toy", description: "Train a small example, in seconds" },
    { command: "divisi train --recipe gym --dry-run", description: "Estimate cost and time" },
    { command: "divisi train --recipe gym --out runs/mine --max-cost 5", description: "Spend at most 5 USD" }
  ])
)

/** `divisi train`: its subcommands, flags and help. What they do is loaded when they are called. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { paragraphs, toggle, whole } from "./flags.ts"

const folder = Argument.String("run").pipe(Argument.withDescription("The folder of the run"))

const config = Flag.String("config").pipe(
  Flag.withMetavar("<file>"),
  Flag.withDescription(
    "The config with your recipes; by default the next divisi.config.ts, .mjs or .js from here upwards"
  ),
  Flag.optional
)

const maxCost = Flag.Finite("max-cost").pipe(
  Flag.filter(
    (value) => value >= 0,
    () => "Expected a cost in USD of at least 0"
  ),
  Flag.withMetavar("<usd>"),
  Flag.withDescription(
    "The most that a run may cost in all, workers and an engine with prices; what reaches it stops at a checkpoint"
  ),
  Flag.optional
)

const json = toggle("json", "Print the events of the run as lines of JSON")

const flags = {
  recipe: Flag.String("recipe").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription("What to train, in what, and how: one of yours from the config, or one that is built in"),
    Flag.optional
  ),
  out: Flag.String("out").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("The folder of the run; by default runs/<recipe>, or the next that is free"),
    Flag.optional
  ),
  seed: whole("seed", 0).pipe(Flag.withDescription("Seed of everything random (default 1)"), Flag.optional),
  iterations: whole("iterations", 1).pipe(
    Flag.withDescription("Iterations of each phase of reinforcement learning, instead of the recipe's"),
    Flag.optional
  ),
  maxCost,
  engine: Flag.String("engine").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "What holds the weights: jax (in this process), tinker (the Tinker API) or toy; the recipe's own by default"
    ),
    Flag.optional
  ),
  baseModel: Flag.String("base-model").pipe(
    Flag.withMetavar("<model>"),
    Flag.withDescription("The model to begin with, e.g. Qwen/Qwen2.5-7B-Instruct; the recipe's own by default"),
    Flag.optional
  ),
  dryRun: toggle("dry-run", "Train nothing: say what the run would cost and take, with a range"),
  config,
  json
}

/** What `divisi train` is asked for. */
export type TrainInput = Command.Command.Config.Infer<typeof flags>

const resumeFlags = { folder, maxCost, config, json }

/** What `divisi train resume` is asked for. */
export type ResumeInput = Command.Command.Config.Infer<typeof resumeFlags>

const training = Effect.promise(() => import("../train/Train.ts"))

const resume = Command.make("resume", resumeFlags, (input) =>
  Effect.flatMap(training, ({ resume }) => resume(input))
).pipe(
  Command.withDescription("Goes on with a run from its last checkpoint, as if it had never stopped."),
  Command.withShortDescription("Go on with a run"),
  Command.withExamples([
    { command: "divisi train resume runs/gym", description: "After Ctrl-C, a crash or a power cut" },
    { command: "divisi train resume runs/gym --max-cost 20", description: "With a higher limit of cost" }
  ])
)

const reportFlags = {
  folder,
  out: Flag.String("out").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("The page; report.html in the run's folder by default"),
    Flag.optional
  )
}

/** What `divisi train report` is asked for. */
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

const report = Command.make("report", reportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../train/ReportFile.ts")),
    ({ write }) => write(input)
  )
).pipe(
  Command.withDescription(
    "Writes a run, finished or not, as one page: curves, who is asked, and workflows from the beginning and the end."
  ),
  Command.withShortDescription("Write a run as a page"),
  Command.withExamples([{ command: "divisi train report runs/gym", description: "Writes runs/gym/report.html" }])
)

const exportFlags = {
  folder,
  to: Flag.Literals("to", ["gguf", "gguf-lora", "peft"]).pipe(
    Flag.withDescription("gguf: a model for llama.cpp; gguf-lora: an adapter for one; peft: a folder of safetensors")
  ),
  checkpoint: Flag.String("checkpoint").pipe(
    Flag.withMetavar("<which>"),
    Flag.withDescription("best (default, where the run was evaluated), last, or a number of iterations"),
    Flag.optional
  ),
  out: Flag.String("out").pipe(Flag.withMetavar("<file>"), Flag.withDescription("Where to write it")),
  config
}

/** What `divisi train export` is asked for. */
export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

const exporting = Command.make("export", exportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../train/Export.ts")),
    ({ write }) => write(input)
  )
).pipe(
  Command.withDescription("Writes the weights of a run for others to run."),
  Command.withShortDescription("Write the weights of a run"),
  Command.withExamples([
    { command: "divisi train export runs/gym --to gguf --out conductor.gguf", description: "The best checkpoint" },
    {
      command: "divisi train export runs/gym --to gguf --checkpoint 40 --out conductor.gguf",
      description: "The state after 40 iterations"
    }
  ])
)

export const train = Command.make("train", flags, (input) =>
  Effect.flatMap(training, ({ start }) => start(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Trains a Conductor by reinforcement learning, in a folder from which it can be resumed whatever happens.",
      "",
      "A recipe says what is trained, in what, and how; yours stand under `recipes` in a divisi.config.ts. Ctrl-C stops at",
      "a checkpoint and says how to go on. With OTEL_EXPORTER_OTLP_ENDPOINT set, metrics are sent there.",
      "",
      "Exit codes: 0 done, 1 failed, 2 wrong usage or config, 3 stopped by --max-cost, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withShortDescription("Train a Conductor"),
  Command.withSubcommands([resume, report, exporting]),
  Command.withExamples([
    { command: "divisi train --recipe toy", description: "See what training is, in seconds" },
    { command: "divisi train --recipe gym --dry-run", description: "What a run would cost and how long it would take" },
    { command: "divisi train --recipe gym --out runs/mine --max-cost 5", description: "Never dearer than 5 USD" }
  ])
)

/** What `divisi train` is asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { config as configFlag, cost, text, toggle, whole } from "../invocation/flags.ts"

const folder = Argument.String("run").pipe(Argument.withDescription("The folder of the run"))

const config = configFlag("The config with your recipes")

const maxCost = cost("max-cost", "Maximum cost of workers and engine; a training that reaches it stops at a checkpoint")

const json = toggle("json", "Print the events of the run as lines of JSON")

export const flags = {
  recipe: text("recipe", "<name>", "A recipe of the config, or a built-in one"),
  out: text("out", "<folder>", "Folder of the training (default runs/<recipe>, or the next free one)"),
  seed: whole("seed", 0).pipe(Flag.withDescription("Seed of everything random (default 1)"), Flag.optional),
  iterations: whole("iterations", 1).pipe(
    Flag.withDescription("Iterations of each phase of reinforcement learning, instead of the recipe's"),
    Flag.optional
  ),
  maxCost,
  engine: text(
    "engine",
    "<name>",
    "Training engine: jax (in this process), tinker (Tinker API) or toy (default the recipe's)"
  ),
  baseModel: text("base-model", "<model>", "Base model, e.g. Qwen/Qwen2.5-7B-Instruct (default the recipe's)"),
  dryRun: toggle("dry-run", "Train nothing; estimate cost and time, with a range"),
  config,
  json
}

/** What `divisi train` is asked for. */
export type TrainInput = Command.Command.Config.Infer<typeof flags>

export const resumeFlags = { folder, maxCost, config, json }

/** What `divisi train resume` is asked for. */
export type ResumeInput = Command.Command.Config.Infer<typeof resumeFlags>

export const reportFlags = {
  folder,
  out: text("out", "<file>", "Output file (default report.html in the run's folder)")
}

/** What `divisi train report` is asked for. */
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

export const exportFlags = {
  folder,
  to: Flag.Literals("to", ["gguf", "gguf-lora", "peft"]).pipe(
    Flag.withDescription("gguf: a model for llama.cpp; gguf-lora: an adapter for one; peft: a folder of safetensors")
  ),
  checkpoint: text("checkpoint", "<which>", "best (default if evaluated), last, or a number of iterations"),
  out: Flag.String("out").pipe(Flag.withMetavar("<file>"), Flag.withDescription("Output file or folder")),
  config
}

/** What `divisi train export` is asked for. */
export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

/** What `divisi train` is asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { config as configFlag, cost, text, toggle, whole } from "../invocation/flags.ts"

const folder = Argument.String("run").pipe(Argument.withDescription("The folder of the run"))

const config = configFlag("The config with your recipes")

const maxCost = cost(
  "max-cost",
  "The most that a run may cost in all, workers and an engine with prices; what reaches it stops at a checkpoint"
)

const json = toggle("json", "Print the events of the run as lines of JSON")

export const flags = {
  recipe: text(
    "recipe",
    "<name>",
    "What to train, in what, and how: one of yours from the config, or one that is built in"
  ),
  out: text("out", "<folder>", "The folder of the run; by default runs/<recipe>, or the next that is free"),
  seed: whole("seed", 0).pipe(Flag.withDescription("Seed of everything random (default 1)"), Flag.optional),
  iterations: whole("iterations", 1).pipe(
    Flag.withDescription("Iterations of each phase of reinforcement learning, instead of the recipe's"),
    Flag.optional
  ),
  maxCost,
  engine: text(
    "engine",
    "<name>",
    "What holds the weights: jax (in this process), tinker (the Tinker API) or toy; the recipe's own by default"
  ),
  baseModel: text(
    "base-model",
    "<model>",
    "The model to begin with, e.g. Qwen/Qwen2.5-7B-Instruct; the recipe's own by default"
  ),
  dryRun: toggle("dry-run", "Train nothing: say what the run would cost and take, with a range"),
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
  out: text("out", "<file>", "The page; report.html in the run's folder by default")
}

/** What `divisi train report` is asked for. */
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

export const exportFlags = {
  folder,
  to: Flag.Literals("to", ["gguf", "gguf-lora", "peft"]).pipe(
    Flag.withDescription("gguf: a model for llama.cpp; gguf-lora: an adapter for one; peft: a folder of safetensors")
  ),
  checkpoint: text(
    "checkpoint",
    "<which>",
    "best (default, where the run was evaluated), last, or a number of iterations"
  ),
  out: Flag.String("out").pipe(Flag.withMetavar("<file>"), Flag.withDescription("Where to write it")),
  config
}

/** What `divisi train export` is asked for. */
export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

/** Flags for `divisi train`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { choice, config as configFlag, cost, large, text, toggle, whole } from "../invocation/flags.ts"

const folder = Argument.String("run").pipe(Argument.withDescription("Folder of the training run"))

const config = configFlag("Config with your recipes")

const maxCost = cost(
  "max-cost",
  "Maximum cost of workers and engine, in USD; at the limit, training stops at a checkpoint"
)

const on = Flag.Redacted("on").pipe(
  Flag.withMetavar("<url>"),
  Flag.withDescription(
    "Postgres database shared by several machines that generate rollouts together. The training run is named after its folder; other machines join it with --join. The password can be set in PGPASSWORD"
  ),
  Flag.optional
)

const json = toggle("json", "Print the events of the run as JSON Lines")

export const flags = {
  recipe: text(
    "recipe",
    "<name>",
    "Recipe from the config, or a built-in one: toy, gym, paper, paper-small or paper-smoke"
  ),
  out: text("out", "<folder>", "Folder of the training run (default: runs/<recipe>, or the next free name)"),
  seed: large("seed", 0).pipe(Flag.withDescription("Random seed (default 1)"), Flag.optional),
  iterations: whole("iterations", 1).pipe(
    Flag.withDescription("Iterations of each reinforcement learning phase (default: the recipe's)"),
    Flag.optional
  ),
  maxCost,
  engine: text(
    "engine",
    "<name>",
    "Training engine: jax (in this process), tinker (Tinker API) or toy (default: the recipe's)"
  ),
  baseModel: text("base-model", "<model>", "Base model, e.g. Qwen/Qwen2.5-7B-Instruct (default: the recipe's)"),
  on,
  join: text("join", "<name>", "Generate rollouts for the training run with this name until it ends. Requires --on"),
  dryRun: toggle("dry-run", "Estimate cost and time as ranges, without training"),
  config,
  json
}

/** Parsed flags of `divisi train`. */
export type TrainInput = Command.Command.Config.Infer<typeof flags>

export const resumeFlags = { folder, maxCost, on, config, json }

/** Parsed flags of `divisi train resume`. */
export type ResumeInput = Command.Command.Config.Infer<typeof resumeFlags>

export const reportFlags = {
  folder,
  out: text("out", "<file>", "Output file (default report.html in the run's folder)")
}

/** Parsed flags of `divisi train report`. */
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

export const exportFlags = {
  folder,
  to: choice("to", ["gguf", "gguf-lora", "peft"]).pipe(
    Flag.withDescription(
      "Format: gguf, gguf-lora or peft. With gguf, a model for llama.cpp; with gguf-lora, a LoRA adapter for a GGUF model; with peft, a folder of safetensors"
    )
  ),
  checkpoint: text(
    "checkpoint",
    "<which>",
    "Checkpoint: best (default if the run was evaluated), last, or an iteration number"
  ),
  out: Flag.String("out").pipe(Flag.withMetavar("<file>"), Flag.withDescription("Output file or folder")),
  config
}

/** Parsed flags of `divisi train export`. */
export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

/** Defines `divisi models` with its subcommands, flags and help. The implementations are loaded on demand. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { toggle } from "../invocation/flags.ts"

const commands = Effect.promise(() => import("./Models.ts"))

const model = Argument.String("model").pipe(
  Argument.withDescription("A name from `divisi models list`, hf:owner/repository/file.gguf, an https URL or a path")
)

const json = toggle("json", "Print JSON, for programs")

const list = Command.make("list", { json }, (input) => Effect.flatMap(commands, ({ list }) => list(input))).pipe(
  Command.withDescription("Lists local models, and models that can be downloaded by name.")
)

const download = Command.make("download", { model }, (input) =>
  Effect.flatMap(commands, ({ download }) => download(input.model))
).pipe(
  Command.withDescription(
    "Downloads a model or resumes its download, and prints the path. HF_TOKEN is sent to Hugging Face."
  ),
  Command.withShortDescription("Download a model"),
  Command.withExamples([
    { command: "divisi models download qwen2.5-1.5b-instruct", description: "The default Conductor" },
    {
      command: "divisi models download qwen2.5-7b-instruct",
      description: "A model of the size used in the Conductor paper"
    }
  ])
)

const remove = Command.make("remove", { model }, (input) =>
  Effect.flatMap(commands, ({ remove }) => remove(input.model))
).pipe(Command.withDescription("Removes a model, or a partial download."))

const inspect = Command.make("inspect", { model, json }, (input) =>
  Effect.flatMap(commands, ({ inspect }) => inspect(input.model, input))
).pipe(
  Command.withDescription("Shows a model's format, and the memory it needs compared with the free memory."),
  Command.withShortDescription("Inspect a model")
)

export const models = Command.make("models").pipe(
  Command.withDescription("Local models for llama.cpp: as the planner (--policy llamacpp:<model>) and in pools."),
  Command.withSubcommands([list, download, remove, inspect])
)

/** Defines `divisi models` with its subcommands, flags and help. The implementations are loaded on demand. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { toggle } from "../invocation/flags.ts"

const commands = Effect.promise(() => import("./Models.ts"))

const model = Argument.String("model").pipe(
  Argument.withDescription("A name from `divisi models list`, hf:owner/repository/file.gguf, an https URL or a path")
)

const json = toggle("json", "Print JSON")

const list = Command.make("list", { json }, (input) => Effect.flatMap(commands, ({ list }) => list(input))).pipe(
  Command.withDescription("List local models, and models that can be downloaded by name."),
  Command.withShortDescription("List models")
)

const download = Command.make("download", { model }, (input) =>
  Effect.flatMap(commands, ({ download }) => download(input.model))
).pipe(
  Command.withDescription(
    "Download a model or resume its download, and print its path. If HF_TOKEN is set, it is sent to Hugging Face."
  ),
  Command.withShortDescription("Download a model"),
  Command.withExamples([
    {
      command: "divisi models download qwen2.5-1.5b-instruct",
      description: "The default Conductor model, which plans runs"
    },
    {
      command: "divisi models download qwen2.5-7b-instruct",
      description: "A model of the size used in the Conductor paper"
    }
  ])
)

const remove = Command.make("remove", { model }, (input) =>
  Effect.flatMap(commands, ({ remove }) => remove(input.model))
).pipe(
  Command.withDescription("Remove a model, or a partial download."),
  Command.withShortDescription("Remove a model")
)

const inspect = Command.make("inspect", { model, json }, (input) =>
  Effect.flatMap(commands, ({ inspect }) => inspect(input.model, input))
).pipe(
  Command.withDescription("Show a model's format, and compare the memory it needs with the free memory."),
  Command.withShortDescription("Inspect a model")
)

export const models = Command.make("models").pipe(
  Command.withDescription(
    "Manage local models for llama.cpp, for use as the planner (--policy llamacpp:<model>) or in pools."
  ),
  Command.withSubcommands([list, download, remove, inspect])
)

/** `divisi models`: its subcommands, flags and help. What they do is loaded when they are called. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { toggle } from "../invocation/flags.ts"

const commands = Effect.promise(() => import("./Models.ts"))

const model = Argument.String("model").pipe(
  Argument.withDescription(
    "A name that `divisi models list` shows, hf:owner/repository/file.gguf, an https address or a path"
  )
)

const json = toggle("json", "Print JSON, for programs")

const list = Command.make("list", { json }, (input) => Effect.flatMap(commands, ({ list }) => list(input))).pipe(
  Command.withDescription("Lists the local models that are here, and those that can be downloaded by name.")
)

const download = Command.make("download", { model }, (input) =>
  Effect.flatMap(commands, ({ download }) => download(input.model))
).pipe(
  Command.withDescription(
    "Downloads a model, goes on where a download broke off, and prints the path. HF_TOKEN is sent to Hugging Face."
  ),
  Command.withShortDescription("Bring a model here"),
  Command.withExamples([
    { command: "divisi models download qwen2.5-1.5b-instruct", description: "The default Conductor" },
    { command: "divisi models download qwen2.5-7b-instruct", description: "One of the paper's size" }
  ])
)

const remove = Command.make("remove", { model }, (input) =>
  Effect.flatMap(commands, ({ remove }) => remove(input.model))
).pipe(Command.withDescription("Removes a model from the folder, whole or not."))

const inspect = Command.make("inspect", { model, json }, (input) =>
  Effect.flatMap(commands, ({ inspect }) => inspect(input.model, input))
).pipe(
  Command.withDescription("Says what a model is, and what memory it takes beside what this machine has free."),
  Command.withShortDescription("Say what a model is and takes")
)

export const models = Command.make("models").pipe(
  Command.withDescription(
    "The local models that llama.cpp runs: as Conductor (--policy llamacpp:<model>) and in pools."
  ),
  Command.withSubcommands([list, download, remove, inspect])
)

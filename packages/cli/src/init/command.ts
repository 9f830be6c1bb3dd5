/** `divisi init`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const init = Command.make("init", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Init.ts")),
    (Init) => Init.init(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Looks for what can answer (keys in the environment, servers of models on this machine), and writes a config and a",
      "first script for it. Where there is nothing, they use the offline gym and say how to connect a model later.",
      "",
      "It asks on a terminal, and overwrites nothing without being told to. Without a terminal, or with --yes or --json,",
      "it takes what it finds."
    )
  ),
  Command.withExamples([
    { command: "divisi init", description: "Look, ask, and write" },
    { command: "divisi init --yes --install", description: "Ask nothing, and install what is needed" },
    { command: "divisi init --models ollama:qwen3:8b --language javascript", description: "This model, in JavaScript" }
  ])
)

/** Defines `divisi init` with its help. The implementation is loaded on demand. */
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
      "Look for API keys in the environment and model servers on this machine, and write a config and a first script that",
      "use them. If nothing is found, they use the offline gym, a demo team without models.",
      "",
      "In a terminal, the command asks which models to use, and asks for confirmation before it overwrites files. In scripts,",
      "or with --yes or --json, it uses everything it finds, and overwrites files only with --force."
    )
  ),
  Command.withExamples([
    { command: "divisi init", description: "Find keys and model servers, ask, and write the files" },
    { command: "divisi init --yes --install", description: "Skip all questions and install the packages" },
    {
      command: "divisi init --models ollama:qwen3:8b --language javascript",
      description: "Use this model, and write JavaScript"
    }
  ])
)

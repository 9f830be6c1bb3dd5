/** Defines `divisi serve` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const serve = Command.make("serve", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Serve.ts")),
    (Serve) => Serve.serve(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Start an OpenAI- and Anthropic-compatible endpoint for the team. Clients only need a new base URL.",
      "",
      "Without a config or --pool, it serves the offline gym, a demo team. By default, it listens only on this machine.",
      "On Ctrl-C or SIGTERM, requests in flight get 30 s to finish; a second signal ends the process at once. SIGHUP",
      "reloads the config. Suspended runs are stored in a file and continue after a restart, except in the gym without",
      "--journal. Requires the package @divisi/server.",
      "",
      "Clients of the Responses and Messages APIs store the encrypted state of suspended runs and send it back. Set",
      "DIVISI_SECRET, so that the server can read this state after a restart; without it, each start uses a new secret.",
      "DIVISI_ACCOUNTS is the path of the file that records the spending of API keys."
    )
  ),
  Command.withExamples([
    { command: "divisi serve", description: "Serve the offline gym on port 8080" },
    {
      command: "divisi serve --pool openai:gpt-6.1-sol,ollama:qwen3:8b --port 9000",
      description: "Serve vendor models; API keys come from the environment"
    },
    {
      command: "divisi serve --max-cost 0.10 --max-total-cost 20 --alias gpt-4o=divisi",
      description: "Set spending limits and a model alias"
    },
    { command: "divisi serve --print-config codex", description: "Print the configuration for Codex" }
  ])
)

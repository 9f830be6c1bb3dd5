/** `divisi mcp`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const mcp = Command.make("mcp", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Mcp.ts")),
    (Mcp) => Mcp.mcp(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Offers the team of the config to an MCP client, over standard input and output. It is started by the client.",
      "",
      "There is one tool, ask: a question, and the answer of a run, with progress as it goes on. A call that is cancelled",
      "stops its run. The limits are those of `divisi run`, for each question. It needs @divisi/tools-mcp."
    )
  ),
  Command.withExamples([
    { command: "divisi mcp", description: "What a client is told to start, in a folder with a config" },
    {
      command: "divisi mcp --config team/divisi.config.ts --max-cost 0.05 --max-total-cost 1",
      description: "Never dearer than that, for a question and for all"
    }
  ])
)

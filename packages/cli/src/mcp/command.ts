/** Defines `divisi mcp` with its help. The implementation is loaded on demand. */
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
      "Expose the team from the config to an MCP client over standard input and output. The client starts this command.",
      "",
      "Its only tool, `ask`, answers a question and reports progress. Cancelling a call stops its run. --max-cost and",
      "--timeout limit each question. A call fails if its plan or a tool needs approval.",
      "Requires @divisi/tools-mcp."
    )
  ),
  Command.withExamples([
    { command: "divisi mcp", description: "Serve the team from the config in this folder" },
    {
      command: "divisi mcp --config team/divisi.config.ts --max-cost 0.05 --max-total-cost 1",
      description: "Limit the cost per question and in total"
    }
  ])
)

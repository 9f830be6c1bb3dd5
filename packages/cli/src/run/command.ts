/** Defines `divisi run` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const run = Command.make("run", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Run.ts")),
    (Run) => Run.run(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Answer a question with a team of workers, and show the plan, the steps and their cost.",
      "If the output is piped, only the answer is printed to standard output. Without a question, a built-in one is used.",
      "",
      "Workers can use the tools in the config and the tools of its MCP servers. If a tool call needs approval, you are",
      "asked in the terminal. Without a terminal, the run is suspended.",
      "",
      "Exit codes: 0 answered, 1 failed, 2 usage or config, 3 limit reached, 4 refused, 5 suspended, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withExamples([
    { command: "divisi run", description: "Answer a built-in question" },
    { command: 'divisi run "What is 17% of 2,350?"', description: "Answer your question" },
    {
      command: "divisi run --file question.txt --transcript run.json",
      description: "Read a file, and save the transcript"
    },
    {
      command: "cat question.txt | divisi run - --json",
      description: "Read standard input, and print events as JSON Lines"
    },
    {
      command: 'divisi run "…" --max-cost 0.01 --timeout 30s',
      description: "Set limits (exit code 3 if one is reached)"
    },
    { command: 'divisi run "…" --dry-run', description: "Print the plan and its estimated cost" },
    {
      command: 'divisi run "…" --durable',
      description: "Store the run; resume it with `divisi runs resume ID`"
    },
    { command: 'divisi run "…" --policy best-of:3 --seed 7', description: "Use a baseline instead of a planner" },
    {
      command: 'divisi run "…" --mcp "npx -y @modelcontextprotocol/server-filesystem ."',
      description: "Use the tools of an MCP server"
    },
    {
      command: 'divisi run "…" --pool openai:gpt-6.1-sol,google:gemini-3.8-flash --policy openai:gpt-6.1-terra',
      description: "Use vendor models; API keys come from the environment"
    }
  ])
)

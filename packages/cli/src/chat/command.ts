/** Defines `divisi chat` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { flags } from "./flags.ts"

export const chat = Command.make("chat", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Chat.ts")),
    (Chat) => Chat.chat(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Chat with a team in the terminal. Answers are streamed. Each turn sends the whole conversation.",
      "",
      "/plan shows the last plan, /cost shows the cost of each turn, /reset clears the conversation, /save saves it to a file,",
      "/exit ends it. Ctrl-C stops a turn, Ctrl-D ends the conversation.",
      "",
      "If standard input is piped, each line is one turn, even if it begins with /. Only the answers are printed to",
      "standard output. The chat exits after the first turn without an answer, with the same exit code as `divisi run`."
    )
  ),
  Command.withExamples([
    { command: "divisi chat", description: "Use the team from the config, or the offline demo team (gym)" },
    {
      command: "divisi chat --pool openai:gpt-6.1-sol,ollama:qwen3:8b --max-cost 0.5",
      description: "Limit the cost to 0.50 USD"
    },
    { command: "divisi chat < questions.txt > answers.txt", description: "Answer one question per line" }
  ])
)

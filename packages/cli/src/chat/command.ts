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
      "Holds a conversation with a team. Answers are streamed; each turn sends the whole conversation.",
      "",
      "/plan shows the last plan, /cost the cost of each turn, /reset clears the conversation, /save writes it to a file,",
      "/exit ends it. Ctrl-C stops a turn, Ctrl-D ends the conversation.",
      "",
      "When the input is piped, each line is a turn, and only the answers go to standard output. The chat stops at the",
      "first turn without an answer, with the exit code of `divisi run`."
    )
  ),
  Command.withExamples([
    { command: "divisi chat", description: "With the team from the config, or the offline gym" },
    {
      command: "divisi chat --pool openai:gpt-5,ollama:qwen3:8b --max-cost 0.5",
      description: "With a cost limit of 0.50 USD"
    },
    { command: "divisi chat < questions.txt > answers.txt", description: "One turn per line" }
  ])
)

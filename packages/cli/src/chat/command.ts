/** `divisi chat`: its help. What it does is loaded when it is called. */
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
      "In a pipe each line is a turn, and standard output has only the answers. It ends with the first turn that is not",
      "answered, with the exit code of `divisi run`."
    )
  ),
  Command.withExamples([
    { command: "divisi chat", description: "With the team of the config, or of the gym" },
    {
      command: "divisi chat --pool openai:gpt-5,ollama:qwen3:8b --max-cost 0.5",
      description: "Never dearer than that"
    },
    { command: "divisi chat < questions.txt > answers.txt", description: "One turn for each line" }
  ])
)

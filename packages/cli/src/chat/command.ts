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
      "A conversation with a team. Each answer comes as it is written, and the whole conversation goes with each turn.",
      "",
      "/plan shows how the last answer was made, /cost what each turn cost, /reset begins anew, /save keeps the",
      "conversation in a file, /exit ends. Ctrl-C stops a turn and keeps the conversation, Ctrl-D ends it.",
      "",
      "On a pipe each line is a turn, and answers alone go to standard output; it ends with the first turn that is not",
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

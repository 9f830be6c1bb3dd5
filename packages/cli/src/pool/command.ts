/** Defines `divisi pool` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { checkFlags, listFlags, recordFlags, trainPoolFlags, verdictFlags } from "./flags.ts"

const check = Command.make("check", checkFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Check.ts")),
    (Check) => Check.check(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Send a small request to each worker, and report which workers respond, how fast and at what price, and which",
      "vendors report rate limits. The exit code is 1 if a worker does not respond.",
      "",
      "With --server, also show the providers that a running `divisi serve` has paused, with the reason and the time left."
    )
  ),
  Command.withShortDescription("Call each worker once"),
  Command.withExamples([
    { command: "divisi pool check", description: "Check the workers in the config" },
    {
      command: "divisi pool check --pool openai:gpt-6.1-sol,ollama:qwen3:8b",
      description: "Check vendor models and your own servers"
    },
    {
      command: "divisi pool check --server http://127.0.0.1:8080",
      description: "Also show the providers that a server has paused"
    },
    {
      command: "divisi pool check --pool paper:controlled --json",
      description: "Check the pool of the Conductor paper, and print JSON"
    }
  ])
)

const list = Command.make("list", listFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./List.ts")),
    (List) => List.list(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "List available workers: those in the config, vendors (and whether their API keys are set), local model servers,",
      "and models with known prices (and the date of each price)."
    )
  ),
  Command.withShortDescription("List available workers"),
  Command.withExamples([{ command: "divisi pool list --json", description: "Print JSON" }])
)

const record = Command.make("record", recordFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Record.ts")),
    (Record) => Record.record(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Ask every worker each question in a file, grade the answers, and store them in a folder for divisi pool train.",
      "The estimated cost is printed first. Unless all workers are free, a limit is required (--max-cost).",
      "",
      "After Ctrl-C or a limit, run the same command again to continue; no answer is paid for twice. The answers are stored",
      "only in this folder. 30% of the questions, chosen by a hash of their text, are held out for `divisi pool verdict`,",
      "which compares the workers with the trained classifier.",
      "",
      "Exit codes: 0 done, 1 failed or too many answers missing, 2 usage error, 3 stopped by a limit, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withShortDescription("Record the workers' answers to your questions"),
  Command.withExamples([
    {
      command: "divisi pool record questions.jsonl --pool openai:gpt-6.1-terra,ollama:qwen3:8b --dry-run",
      description: "Print the estimated cost"
    },
    {
      command:
        "divisi pool record questions.jsonl --pool openai:gpt-6.1-terra,ollama:qwen3:8b --max-cost 5 --max-time 2h",
      description: "Record for at most 5 USD and two hours"
    }
  ])
)

const train = Command.make("train", trainPoolFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Train.ts")),
    (Train) => Train.train(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Train a linear classifier that chooses a worker for each question, on the answers recorded by `divisi pool record`.",
      "No worker is called. Without --embeddings, questions are compared by their words, and training takes seconds.",
      "",
      "Use the result with --policy head:<folder>/head.json."
    )
  ),
  Command.withShortDescription("Train a classifier that chooses a worker for each question"),
  Command.withExamples([
    { command: "divisi pool train pool", description: "Train for accuracy only" },
    { command: "divisi pool train pool --worth 0.01", description: "Value a correct answer at one cent" }
  ])
)

const verdict = Command.make("verdict", verdictFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Verdict.ts")),
    (Verdict) => Verdict.verdict(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Compare the trained classifier with each worker and the other recorded policies on the held-out questions. The",
      "verdict states whether it beats the best worker, even when that worker answers several times for the same number",
      "of tokens.",
      "Answers come from the recording, so no worker is called."
    )
  ),
  Command.withShortDescription("Report whether the classifier beats the best worker"),
  Command.withExamples([{ command: "divisi pool verdict pool", description: "Run this after divisi pool train" }])
)

export const pool = Command.make("pool").pipe(
  Command.withDescription("List and check workers, and train a classifier that picks a worker for each question."),
  Command.withSubcommands([list, check, record, train, verdict])
)

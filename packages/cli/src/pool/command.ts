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
    "Sends a tiny request to each worker and reports which respond, how fast and at what price, and which vendors are rate limiting. With --server, it also shows the providers that a running divisi serve has paused, why and until when. Exit code 1 if a worker does not respond."
  ),
  Command.withShortDescription("Call each worker once"),
  Command.withExamples([
    { command: "divisi pool check", description: "The workers of the config" },
    {
      command: "divisi pool check --pool openai:gpt-5,ollama:qwen3:8b",
      description: "Vendor models and your own servers"
    },
    { command: "divisi pool check --server http://127.0.0.1:8080", description: "Also show a server's cooldowns" },
    {
      command: "divisi pool check --pool paper:controlled --json",
      description: "The pool of the Conductor paper, as JSON"
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
    "Lists available workers: those in the config, vendors (and whether their API keys are set), local model servers, and models with known prices (and the date of each price)."
  ),
  Command.withShortDescription("List available workers"),
  Command.withExamples([{ command: "divisi pool list --json", description: "As JSON" }])
)

const record = Command.make("record", recordFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Record.ts")),
    (Record) => Record.record(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Asks every worker each question in a file, grades the answers and stores them in a folder, for divisi pool train.",
      "It prints the price first, and needs a limit with --max-cost unless all workers are free.",
      "",
      "After Ctrl-C or a limit, rerun the same command to continue; no answer is paid for twice. The answers are stored",
      "only in the folder. 30% of the questions are held out for the verdict, chosen by a hash of their text.",
      "",
      "Exit codes: 0 done, 1 failed or too many answers missing, 2 usage error, 3 stopped by a limit, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withShortDescription("Record every worker's answers to your questions"),
  Command.withExamples([
    {
      command: "divisi pool record questions.jsonl --pool openai:gpt-5-mini,ollama:qwen3:8b --dry-run",
      description: "The price"
    },
    {
      command: "divisi pool record questions.jsonl --pool openai:gpt-5-mini,ollama:qwen3:8b --max-cost 5 --max-time 2h",
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
    "Trains a Conductor for your pool on recorded answers: a linear head that chooses a worker based on the question. With hashed words (the default) it takes seconds. No worker is called. Use it with --policy head:<folder>/head.json."
  ),
  Command.withShortDescription("Train a Conductor for your pool"),
  Command.withExamples([
    { command: "divisi pool train pool", description: "For accuracy alone" },
    { command: "divisi pool train pool --worth 0.01", description: "A correct answer is worth one cent" }
  ])
)

const verdict = Command.make("verdict", verdictFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Verdict.ts")),
    (Verdict) => Verdict.verdict(input)
  )
).pipe(
  Command.withDescription(
    "Replays the trained Conductor, each worker and the recorded teams on the held-out questions, from recorded answers, and states whether the Conductor is worth it, that is, whether it beats majority voting by the best worker with the same number of tokens. No worker is called."
  ),
  Command.withShortDescription("Is your Conductor worth it?"),
  Command.withExamples([{ command: "divisi pool verdict pool", description: "After divisi pool train" }])
)

export const pool = Command.make("pool").pipe(
  Command.withDescription("Lists and checks workers, and trains a Conductor for them."),
  Command.withSubcommands([list, check, record, train, verdict])
)

/** Defines `divisi learn` with its flags and help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { cost, paragraphs, text, toggle } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

const learnFlags = {
  from: Flag.String("from").pipe(
    Flag.withMetavar("<files>"),
    Flag.withDescription(
      'Also learn from graded answers in files: a,b.jsonl.gz with lines {"question":"…","kind":"…","scores":{"worker":1}}'
    ),
    Flag.optional
  ),
  show: toggle("show", "Show the current table without learning"),
  revert: toggle("revert", "Restore the previous table"),
  head: toggle("head", "Learn a linear head, compare it with the table, and store it for --policy head"),
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "Embeddings for the head: hashed (default), or a model such as llamacpp:qwen2.5-0.5b-instruct (needs --from)"
  ),
  evolve: text(
    "evolve",
    "<benchmark>",
    "With --head: evolve the head on full runs over this benchmark, or a file of questions and answers"
  ),
  maxCost: cost("max-cost", "Maximum cost of all runs of --evolve, in USD; never exceeded"),
  database: Flag.Redacted("database").pipe(
    Flag.withMetavar("<url>"),
    Flag.withDescription(
      "Also learn from ratings on the servers of this Postgres (default DIVISI_DATABASE, or serve.database of the config, or none)"
    ),
    Flag.optional
  ),
  config: conductorFlags.config,
  price: conductorFlags.price,
  picture: text("picture", "<file>", "Draw the current table as SVG"),
  json: toggle("json", "Print JSON")
}

/** Parsed flags of `divisi learn`. */
export type LearnInput = Command.Command.Config.Infer<typeof learnFlags>

export const learn = Command.make("learn", learnFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Learn.ts")),
    (Learn) => Learn.learn(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Learns from rated runs which worker is best for which kind of question. The new table is used only if recorded",
      "runs support it: it must not be worse than the current one by the lower bound of a doubly robust estimate, and better on",
      "the last fifth of the runs. From then on, runs without --policy use it for the workers in it. To choose it",
      "explicitly, use --policy learned, learned:within-2 or learned:half.",
      "",
      "With --head, it trains a linear head for --policy head. This takes seconds with hashed words and longer with",
      "--embeddings. It prints the gain over the table, which is often 0. With --evolve, it then uses full runs to learn",
      "which workers should think, answer and verify; an interrupted run resumes.",
      "",
      "No data leaves this machine unless DIVISI_EMBEDDINGS is a vendor's embedding model (llamacpp:<file> is local;",
      "hashed words are the default). The same outcomes give the same table. DIVISI_ROUTER is the file of the table,",
      "DIVISI_HEAD the file of the head."
    )
  ),
  Command.withExamples([
    { command: "divisi learn", description: "Learn a table, and use it if it is better" },
    { command: "divisi learn --show --picture who.svg", description: "Show the table and a picture" },
    {
      command: "divisi learn --head --embeddings llamacpp:qwen2.5-0.5b-instruct --from outcomes.jsonl.gz",
      description: "A head on the hidden state of a small model"
    },
    { command: "divisi learn --revert", description: "Restore the previous table" }
  ])
)

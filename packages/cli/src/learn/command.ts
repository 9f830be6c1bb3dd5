/** Defines `divisi learn` with its flags and help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { cost, paragraphs, text, toggle } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

const learnFlags = {
  from: text(
    "from",
    "<files>",
    'Also learn from folders of evaluations and files of graded answers, e.g. evaluation,a.jsonl.gz. Each line of a file is {"question":"…","kind":"…","scores":{"worker":1}}'
  ),
  show: toggle("show", "Show the current table without learning"),
  revert: toggle("revert", "Restore the previous table"),
  head: toggle("head", "Train a linear classifier, compare it with the table, and store it for --policy head"),
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "Embedding model for --head (default: hashed words). A model, such as llamacpp:qwen2.5-0.5b-instruct, requires --from"
  ),
  evolve: text(
    "evolve",
    "<benchmark>",
    "With --head, improve the classifier by running a benchmark, or a file of questions with reference answers"
  ),
  maxCost: cost("max-cost", "Maximum cost of all runs of --evolve, in USD; never exceeded"),
  database: Flag.Redacted("database").pipe(
    Flag.withMetavar("<url>"),
    Flag.withDescription(
      "Also learn from ratings stored in the servers' Postgres database. Default: DIVISI_DATABASE, serve.database in the config, or none"
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
      "Learn from rated runs which worker is best for which kind of question, and store the result as a table. Runs",
      "without --policy then use the table if it covers at least two workers in the pool. --policy learned always uses it;",
      "learned:half chooses the best worker for at most half the cost, learned:within-2 the cheapest worker within 2 points",
      "of the best.",
      "",
      "A new table replaces the current one only if the rated runs support it. The lower bound of its estimated score (0 to",
      "100) may be at most 0.5 points below the current table's score. On the last fifth of the runs, the new table must",
      "score higher. The first table only has to match the strongest worker on that fifth.",
      "",
      "With --head, train a linear classifier for --policy head instead, and print its gain over the table. The gain is",
      "often 0. Training takes seconds with hashed words, and longer with --embeddings.",
      "",
      "--evolve also runs the questions of a benchmark or file with different combinations of workers: one worker answers;",
      "optionally, another thinks about the question first, and a third verifies the answer. The best combinations are",
      "stored. If the command is interrupted, run it again to continue.",
      "",
      "Rated questions leave this machine only if --embeddings names a vendor's model. The same outcomes always give the same",
      "table. DIVISI_ROUTER sets the path of the table, DIVISI_HEAD the path of the classifier."
    )
  ),
  Command.withExamples([
    { command: "divisi learn", description: "Learn a table, and use it if it is better" },
    { command: "divisi learn --show --picture who.svg", description: "Show the table, and draw it as a picture" },
    {
      command: "divisi learn --head --embeddings llamacpp:qwen2.5-0.5b-instruct --from outcomes.jsonl.gz",
      description: "Train a classifier on the embeddings of a small model"
    },
    { command: "divisi learn --revert", description: "Restore the previous table" }
  ])
)

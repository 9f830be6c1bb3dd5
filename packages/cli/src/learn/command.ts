/** `divisi learn`: its flags and help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { cost, paragraphs, text, toggle } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

const learnFlags = {
  from: Flag.String("from").pipe(
    Flag.withMetavar("<files>"),
    Flag.withDescription(
      'Learn from graded answers in files, too: a,b.jsonl.gz with lines {"question":"…","kind":"…","scores":{"worker":1}}'
    ),
    Flag.optional
  ),
  show: toggle("show", "Show what is learned and in force, and learn nothing"),
  revert: toggle("revert", "Put the table before the one in force back"),
  head: toggle(
    "head",
    "Learn a head in the place of a table, judge it beside the table, and keep it for --policy head"
  ),
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "What the head reads questions with: hashed (default), or a model, as in llamacpp:qwen2.5-0.5b-instruct; needs the texts, so --from"
  ),
  evolve: text(
    "evolve",
    "<benchmark>",
    "Evolve the head on whole runs of the config's workers: a benchmark, or a file of questions with answers; with --head"
  ),
  maxCost: cost("max-cost", "What the runs of --evolve may cost together, in USD; never exceeded"),
  database: Flag.Redacted("database").pipe(
    Flag.withMetavar("<url>"),
    Flag.withDescription(
      "Learn from what was rated on the servers of this Postgres, too (default DIVISI_DATABASE, or serve.database of the config, or none)"
    ),
    Flag.optional
  ),
  config: conductorFlags.config,
  price: conductorFlags.price,
  picture: text("picture", "<file>", "Draw what is in force, as an SVG"),
  json: toggle("json", "Print JSON")
}

/** What `divisi learn` is asked for. */
export type LearnInput = Command.Command.Config.Infer<typeof learnFlags>

export const learn = Command.make("learn", learnFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Learn.ts")),
    (Learn) => Learn.learn(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Learns from rated runs who is good at which kind of question. What it learns is judged on the runs on record before",
      "it counts: it must not be worse than what is in force, by the lower bound of a doubly robust estimate, and better on",
      "the last fifth of the runs. Then a pool of workers that it knows is routed by it where no policy is given, and",
      "--policy learned, learned:within-2 and learned:half name it.",
      "",
      "With --head it learns a linear head, which --policy head asks by. It takes seconds with hashed words, and as long as",
      "the model reads with --embeddings. What it gains over the table is told, and often that is nothing. With --evolve it then",
      "learns in whole runs whom to ask to think, to answer and to verify; killed, it goes on where it was.",
      "",
      "Nothing leaves this machine, unless DIVISI_EMBEDDINGS names a vendor's model to put questions at their places",
      "(llamacpp:<file> is one on this machine; hashed words are the default). The same outcomes give the same table.",
      "DIVISI_ROUTER names the file it is kept in, and DIVISI_HEAD that of a head."
    )
  ),
  Command.withExamples([
    { command: "divisi learn", description: "Learn, judge, and put it in force where it is better" },
    { command: "divisi learn --show --picture who.svg", description: "Who is good at what, as a table and a picture" },
    {
      command: "divisi learn --head --embeddings llamacpp:qwen2.5-0.5b-instruct --from outcomes.jsonl.gz",
      description: "A head on the hidden state of a small model"
    },
    { command: "divisi learn --revert", description: "Take the last table back" }
  ])
)

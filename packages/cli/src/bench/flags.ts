/** Flags for `divisi bench routing`. */
import { RoutingBench } from "@divisi/evals"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { choice, seed, text, toggle, whole } from "../invocation/flags.ts"

export const routingFlags = {
  outcomes: Flag.String("outcomes").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      'File of graded answers, one question per line. Each line is {"question":"…","kind":"…","scores":{"a":1,"b":0}}, with a score for every worker. The file can be compressed (.gz)'
    )
  ),
  split: choice("split", RoutingBench.splits).pipe(
    Flag.withDescription("Unit to hold out for the test: a question, or a whole kind of questions (default question)"),
    Flag.withDefault("question")
  ),
  repeats: whole("repeats", 1).pipe(Flag.withDescription("Number of random splits (default 10)"), Flag.withDefault(10)),
  perKind: whole("per-kind", 1).pipe(
    Flag.withDescription("Maximum number of training questions per kind (default: all)"),
    Flag.optional
  ),
  only: text("only", "<names>", "Policies to compare, e.g. router,best-single (default: all)"),
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "Embedding model, e.g. llamacpp:minilm.gguf (default: hashed words). Only the first 48 tokens of a question are used"
  ),
  seed,
  json: toggle("json", "Print one JSON object per policy")
}

/** Parsed flags of `divisi bench routing`. */
export type RoutingInput = Command.Command.Config.Infer<typeof routingFlags>

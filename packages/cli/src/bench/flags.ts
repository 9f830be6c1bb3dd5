/** Flags for `divisi bench routing`. */
import { RoutingBench } from "@divisi/evals"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { seed, text, toggle, whole } from "../invocation/flags.ts"

export const routingFlags = {
  outcomes: Flag.String("outcomes").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      'Graded answers, one question per line with the scores of all workers: {"question":"…","kind":"…","scores":{"a":1,"b":0}}; .gz is decompressed'
    )
  ),
  split: Flag.Literals("split", RoutingBench.splits).pipe(
    Flag.withDescription("Held-out unit: question (default), or kind"),
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
    "Embedding model instead of hashed words: llamacpp:minilm.gguf (reads the first 48 tokens of a question)"
  ),
  seed,
  json: toggle("json", "Print one JSON object per policy")
}

/** Parsed flags of `divisi bench routing`. */
export type RoutingInput = Command.Command.Config.Infer<typeof routingFlags>

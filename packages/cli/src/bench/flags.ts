/** What `divisi bench routing` is asked for. */
import { RoutingBench } from "@divisi/evals"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { seed, text, toggle, whole } from "../invocation/flags.ts"

export const routingFlags = {
  outcomes: Flag.String("outcomes").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      'Graded answers, a question with the scores of all workers on each line: {"question":"…","kind":"…","scores":{"a":1,"b":0}}; .gz is unpacked'
    )
  ),
  split: Flag.Literals("split", RoutingBench.splits).pipe(
    Flag.withDescription("What is kept apart to be answered: question (default), or whole kinds"),
    Flag.withDefault("question")
  ),
  repeats: whole("repeats", 1).pipe(
    Flag.withDescription("How often the questions are parted anew (default 10)"),
    Flag.withDefault(10)
  ),
  perKind: whole("per-kind", 1).pipe(
    Flag.withDescription("Learn from so many questions of each kind at most (default all)"),
    Flag.optional
  ),
  only: text("only", "<names>", "The policies to compare, as in router,best-single (default all)"),
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "What all learn from instead of hashed words, as in llamacpp:minilm.gguf (which reads the first 48 tokens of a question)"
  ),
  seed,
  json: toggle("json", "Print one JSON object per policy")
}

/** What `divisi bench routing` is asked for. */
export type RoutingInput = Command.Command.Config.Infer<typeof routingFlags>

/** Flags for `divisi pool`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { evalFlags } from "../eval/flags.ts"
import { cost, duration, large, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

export const checkFlags = {
  pool: conductorFlags.pool,
  price: conductorFlags.price,
  config: conductorFlags.config,
  timeout: timeout("Maximum time to wait for an answer (default 60s)"),
  server: text(
    "server",
    "<url>",
    "Also show the providers paused by this running divisi serve, e.g. http://127.0.0.1:8080 (default: DIVISI_SERVER, or none)"
  ),
  json: toggle("json", "Print one line of JSON per worker")
}

/** Parsed flags of `divisi pool check`. */
export type CheckInput = Command.Command.Config.Infer<typeof checkFlags>

export const listFlags = {
  config: conductorFlags.config,
  json: toggle("json", "Print the result as one line of JSON")
}

/** Parsed flags of `divisi pool list`. */
export type ListInput = Command.Command.Config.Infer<typeof listFlags>

const folder = Argument.String("folder").pipe(Argument.withDescription("Folder written by divisi pool record"))

export const recordFlags = {
  questions: Argument.String("questions").pipe(
    Argument.withDescription('File of questions, one per line: {"question":"…","answer":"…"} (see docs/evals-files.md)')
  ),
  pool: conductorFlags.pool,
  price: conductorFlags.price,
  threads: conductorFlags.threads,
  config: conductorFlags.config,
  policy: text(
    "policy",
    "<names>",
    "Policies to record in addition to the individual workers, e.g. moa,self-consistency:3. `divisi pool verdict` compares them too"
  ),
  grader: text("grader", "<name>", "Grader for rows without a grader field: a name or a file (default: text)"),
  sandbox: evalFlags.sandbox,
  samples: whole("samples", 1).pipe(
    Flag.withDescription(
      "Number of answers per worker and question, default 3. `divisi pool verdict` compares the classifier with a majority vote over these answers"
    ),
    Flag.withDefault(3)
  ),
  maxCost: cost("max-cost", "Maximum total cost, in USD; never exceeded. Required unless all workers are free"),
  maxTime: duration("max-time", "Maximum duration; rerun the same command to continue"),
  maxOutputTokens: large("max-output-tokens", 1).pipe(
    Flag.withDescription(
      "Maximum tokens per answer (default: the worker's limit; otherwise the model's, up to 8192, or 4096 if it is unknown)"
    ),
    Flag.optional
  ),
  temperature: evalFlags.temperature,
  concurrency: whole("concurrency", 1).pipe(
    Flag.withDescription("Number of parallel calls (default 8)"),
    Flag.withDefault(8)
  ),
  dryRun: toggle("dry-run", "Print the estimated cost without calling workers"),
  out: Flag.String("out").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("Output folder (default pool). An existing recording is continued"),
    Flag.withDefault("pool")
  ),
  json: evalFlags.json
}

/** Parsed flags of `divisi pool record`. */
export type RecordInput = Command.Command.Config.Infer<typeof recordFlags>

export const trainPoolFlags = {
  folder,
  embeddings: text(
    "embeddings",
    "<vendor:model>",
    "Embedding model for questions (default: hashed words). For example llamacpp:qwen2.5-0.5b-instruct"
  ),
  worth: Flag.Finite("worth").pipe(
    Flag.filter(
      (value) => value > 0,
      () => "Expected an amount above 0"
    ),
    Flag.withMetavar("<usd>"),
    Flag.withDescription("Value of a correct answer in USD, weighed against the price (default: ignore the price)"),
    Flag.optional
  ),
  json: toggle("json", "Print one line of JSON")
}

/** Parsed flags of `divisi pool train`. */
export type TrainPoolInput = Command.Command.Config.Infer<typeof trainPoolFlags>

export const verdictFlags = {
  folder,
  pool: conductorFlags.pool,
  config: conductorFlags.config,
  sandbox: evalFlags.sandbox,
  json: toggle("json", "Print the verdict and the content of results.json as one line of JSON")
}

/** Parsed flags of `divisi pool verdict`. */
export type VerdictInput = Command.Command.Config.Infer<typeof verdictFlags>

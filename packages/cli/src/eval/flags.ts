/** Flags for `divisi eval`. */
import type { Reasoning } from "@divisi/core/Worker"
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { choice, cost, large, parseDay, seed, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags, profiles } from "../team/flags.ts"
import { maxMissing } from "./NotMeasured.ts"

const file = (name: string, description: string) => text(name, "<file>", description)

/** Flags that select the tasks, and the sandbox for generated programs. */
const taskFlags = {
  sandbox: Flag.String("sandbox").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription("Sandbox for generated code: pyodide (default), bubblewrap, container:<image>, local-unsafe"),
    Flag.withDefault("pyodide")
  ),
  revision: text(
    "revision",
    "<commit>",
    "Commit of the data sets on the Hugging Face Hub (default: the newest one). The commit used is stored in results.json"
  )
}

const day = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filter(
      (text) => parseDay(text) !== undefined,
      () => "Expected a date such as 2025-01-31"
    ),
    Flag.withMetavar("<day>"),
    Flag.withDescription(description),
    Flag.optional
  )

const grader = (description: string) => text("grader", "<name>", description)

const efforts = ["minimal", "low", "medium", "high"] as const

/** Parses `--reasoning`. Returns `undefined` if the value is invalid. */
const parseReasoning = (text: string): Reasoning | undefined => {
  if (text === "off") return { type: "off" }
  const effort = efforts.find((one) => one === text)
  if (effort !== undefined) return { type: "effort", effort }
  return /^[1-9]\d{0,6}$/.test(text) ? { type: "budget", tokens: Number(text) } : undefined
}

export const evalFlags = {
  benchmark: Flag.String("benchmark").pipe(
    Flag.withMetavar("<names>"),
    Flag.withDescription(
      "Benchmarks to run, separated by commas (default gym). Available: gym, math500, mmlu, rlpr, gpqa-diamond, aime25, gsm8k, rlpr-strict, rlpr-paper, livecodebench-v1 to -v6, bigcodebench-hard, your own .jsonl or .parquet files, verifiers:<taskset>, or a name with a file: math500=rows.jsonl"
    ),
    Flag.withDefault("gym")
  ),
  policy: text(
    "policy",
    "<names>",
    "Policies to compare, separated by commas; the first is the reference. Accepts the policies of `divisi run`, e.g. lexical or ./mine.ts, and oracle in the gym. Default: the config's policy, or lexical"
  ),
  baselines: Flag.String("baselines").pipe(
    Flag.withMetavar("<names>"),
    Flag.withDescription(
      "Baselines to compare, separated by commas. Available: single, best, context:5, self-consistency:5, self-reflection:5, best-of:5, moa, random, routerdc-light, masrouter-light, smoothie-independent, smoothie-dependent. Append @<worker> to choose the worker, e.g. best-of:5@openai:gpt-6.1-sol"
    ),
    Flag.withDefault("")
  ),
  limit: whole("limit", 1).pipe(
    Flag.withDescription("Maximum number of tasks per benchmark, spread over all subjects (default: all; gym: 100)"),
    Flag.optional
  ),
  epochs: whole("samples", 1).pipe(
    Flag.withAlias("epochs"),
    Flag.withDescription("Number of answers per policy and task (default 1)"),
    Flag.withDefault(1)
  ),
  maxCost: cost(
    "max-cost",
    "Maximum total cost of the evaluation, in USD; never exceeded. Samples from earlier commands in the same folder count. To continue after the limit is reached, run the same command with a higher limit"
  ),
  timeout: timeout("Maximum duration of one answer, e.g. 30s or 2m"),
  out: Flag.String("out").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("Output folder (default evaluation). An existing evaluation is continued"),
    Flag.withDefault("evaluation")
  ),
  json: toggle("json", "Print results.json on one line instead of a table"),
  ...conductorFlags,
  grader: grader("For your own files: grader for rows without a grader field, as a name or a file (default: text)"),
  concurrency: whole("concurrency", 1).pipe(
    Flag.withDescription("Number of parallel runs (default 8)"),
    Flag.withDefault(8)
  ),
  on: Flag.Redacted("on").pipe(
    Flag.withMetavar("<url>"),
    Flag.withDescription(
      "Postgres database shared by several machines that generate samples together. Run the same command on each. The evaluation is named after the --out folder. The password can be set in PGPASSWORD"
    ),
    Flag.optional
  ),
  retryMissing: toggle("retry-missing", "Measure missing samples again, in addition to new ones"),
  ...taskFlags,
  learn: text(
    "learn",
    "<name>",
    "Training tasks for baselines that learn: a benchmark (its training split is used) or a file. Default with the gym's workers: gym; otherwise required"
  ),
  learnLimit: whole("learn-limit", 1).pipe(
    Flag.withDescription("Number of training tasks (default 100)"),
    Flag.withDefault(100)
  ),
  embeddings: text(
    "embeddings",
    "<model>",
    "Embedding model for baselines that learn (default: hashed words). Available: openai:text-embedding-3-small, ollama:<model>, llamacpp:<file>"
  ),
  profiles,
  offline: text(
    "offline",
    "<folder>",
    "Make no calls: use only the answers stored in this evaluation, and count all others as missing"
  ),
  since: day("since", "Only LiveCodeBench contests on or after this date, e.g. 2025-01-31"),
  until: day("until", "Only LiveCodeBench contests on or before this date"),
  ids: text(
    "ids",
    "<ids>",
    "Only these tasks: ids separated by commas, or a file. The file has one id per line, or JSON Lines with an `id` field"
  ),
  shots: whole("shots", 0).pipe(
    Flag.withAlias("num-fewshot"),
    Flag.withDescription(
      "Number of solved examples to put before each question (default 0). They come from the benchmark's split for examples, if it has one, and never include the question itself"
    ),
    Flag.optional
  ),
  shotsFrom: file("shots-from", "File with the solved examples, in the benchmark's format"),
  trained: file(
    "trained",
    "File of training data (ids or questions). If it contains tasks of the benchmark, the command fails"
  ),
  dropOverlap: toggle("drop-overlap", "Skip the tasks that the --trained file contains, instead of failing"),
  split: text(
    "split",
    "<name>",
    "Split of the benchmark (default test). mmlu also has validation, dev and auxiliary_train; rlpr has validation, train and all; gym has validation and train"
  ),
  format: choice("format", ["tags", "box", "line"]).pipe(
    Flag.withDescription("Answer format (default: the benchmark's)"),
    Flag.optional
  ),
  temperature: Flag.Finite("temperature").pipe(
    Flag.filter(
      (value) => value >= 0 && value <= 2,
      () => "Expected a temperature from 0 to 2"
    ),
    Flag.withMetavar("<value>"),
    Flag.withDescription("Temperature for every call (default: the worker's own)"),
    Flag.optional
  ),
  reasoning: Flag.String("reasoning").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseReasoning(text)),
      () => "Expected off, minimal, low, medium, high, or a number of tokens"
    ),
    Flag.withMetavar("<effort>"),
    Flag.withDescription(
      "Reasoning effort of every call: off, minimal, low, medium, high, or a number of tokens. Models without this setting reject the call"
    ),
    Flag.optional
  ),
  paper: toggle(
    "paper",
    'Use the controlled setting of the Conductor paper: 4,096 tokens per call, temperature 0.2, and the "tags" answer format where supported. --pool paper:controlled also sets each model to its lowest reasoning effort'
  ),
  seed,
  questionCost: cost("question-cost", "Maximum cost of one answer, in USD, for every policy"),
  maxOutputTokens: large("max-output-tokens", 1).pipe(
    Flag.withDescription(
      "Maximum tokens per call, including reasoning (default: the worker's limit, otherwise the model's limit up to 8192, or 4096 if that is unknown)"
    ),
    Flag.optional
  ),
  maxMissing,
  transcripts: toggle("transcripts", "Store the transcript of each run, for `divisi replay` and training data")
}

/** Parsed flags of `divisi eval`. */
export type EvalInput = Command.Command.Config.Infer<typeof evalFlags>

export const regradeFlags = {
  ...taskFlags,
  grader: grader("Grader for all answers, instead of the benchmark's: a name or a file, e.g. ./mine.ts"),
  folder: Argument.String("folder").pipe(Argument.withDescription("Folder of the evaluation")),
  benchmark: text("benchmark", "<names>", "New locations of moved task files, e.g. math500=rows.jsonl"),
  json: toggle("json", "Print each changed verdict as a line of JSON")
}

/** Parsed flags of `divisi eval regrade`. */
export type RegradeInput = Command.Command.Config.Infer<typeof regradeFlags>

export const exportFlags = {
  folder: Argument.String("folder").pipe(
    Argument.withDescription("Folder of an evaluation made with --transcripts, or a folder of transcripts")
  ),
  to: choice("to", ["decisions", "answers", "inspect"]).pipe(
    Flag.withDescription(
      "Content to export: decisions (prompts and completions of policies), answers (messages and answers of workers), or inspect (logs for inspect_ai, one per policy and benchmark)"
    )
  ),
  benchmark: text("benchmark", "<names>", "For inspect: new locations of moved task files, e.g. math500=rows.jsonl"),
  grader: grader("Grader for ungraded transcripts"),
  out: file("out", "Output file (default: standard output). For inspect, a folder (default <folder>/inspect)")
}

/** Parsed flags of `divisi eval export`. */
export type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

export const diffFlags = {
  first: Argument.String("first").pipe(Argument.withDescription("Folder of an evaluation, or its results.json")),
  second: Argument.String("second").pipe(
    Argument.withDescription("Folder of the other evaluation, or its results.json")
  ),
  policies: text(
    "policies",
    "<pairs>",
    "Pairs of policies to compare, e.g. old=new (default: policies with the same name)"
  ),
  json: toggle("json", "Print the differences as JSON")
}

/** Parsed flags of `divisi eval diff`. */
export type DiffInput = Command.Command.Config.Infer<typeof diffFlags>

/**
 * The schema of the model card: the model's data, training, results and limits. `model/card.json` follows it, and
 * `CARD.md` is generated from that file.
 */
import * as Schema from "effect/Schema"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A source of training data. */
export const DataSource = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  licence: Schema.String
})

/** A phase of the training run. */
export const Phase = Schema.Struct({
  name: Schema.String,
  /** `warm-start`, `grpo` or `recursion`. */
  type: Schema.String,
  /** Optimizer steps, or iterations. */
  steps: Schema.Int
})

/** A policy's result on a benchmark, with its standard error. Shares are from 0 to 1. */
export const Metric = Schema.Struct({
  benchmark: Schema.String,
  policy: Schema.String,
  /** Number of questions. */
  tasks: Schema.Int,
  accuracy: Schema.Finite,
  standardError: Schema.Finite,
  /** Mean cost per question, in USD at the gym's prices. */
  costUsd: Schema.optionalKey(Schema.Finite),
  /** Mean number of steps per plan. */
  steps: Schema.optionalKey(Schema.Finite)
})

/** Schema of a model card. */
export const ModelCard = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  licence: Schema.String,
  /** Date of the training run, such as 2026-11-20. */
  date: Schema.String,
  model: Schema.Struct({
    architecture: Schema.String,
    parameters: Schema.Int,
    layers: Schema.Int,
    hiddenSize: Schema.Int,
    heads: Schema.Int,
    feedForwardSize: Schema.Int,
    vocabularySize: Schema.Int,
    contextTokens: Schema.Int,
    weights: Schema.String
  }),
  /** The GGUF file. Filled in by the script that generates CARD.md. */
  file: Schema.Struct({ name: Schema.String, bytes: Schema.Int, sha256: Schema.String }),
  training: Schema.Struct({
    recipe: Schema.String,
    command: Schema.String,
    seeds: Schema.Array(Schema.Int),
    phases: Schema.Array(Phase),
    hardware: Schema.String,
    minutes: Schema.Finite
  }),
  data: Schema.Array(DataSource),
  metrics: Schema.Array(Metric),
  /** Intended uses and limits, one sentence each. */
  uses: Schema.Array(Schema.String),
  limits: Schema.Array(Schema.String),
  /** Versions of the packages used for training, keyed by name. */
  versions: Schema.Record(Schema.String, Schema.String)
})

/** A decoded model card. */
export type ModelCard = typeof ModelCard.Type

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Decodes a card. Throws an error that names the invalid field. */
export const decodeUnsafe: (card: unknown) => ModelCard = Schema.decodeUnknownSync(ModelCard, {
  errors: "all",
  onExcessProperty: "error"
})

// -------------------------------------------------------------------------------------------------------------------
// For people
// -------------------------------------------------------------------------------------------------------------------

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const list = (lines: ReadonlyArray<string>): string => lines.map((line) => `- ${line}`).join("\n")

const percent = (share: number): string => (100 * share).toFixed(1)

const metricsOf = (metrics: ModelCard["metrics"]): string =>
  table(
    ["benchmark", "policy", "questions", "accuracy, %", "standard error", "USD a question", "steps"],
    metrics.map(({ accuracy, benchmark, costUsd, policy, standardError, steps, tasks }) => [
      benchmark,
      policy,
      tasks,
      percent(accuracy),
      percent(standardError),
      costUsd?.toPrecision(3) ?? "",
      steps?.toFixed(2) ?? ""
    ])
  )

const partsOf = ({ file, model, training }: ModelCard): ReadonlyArray<ReadonlyArray<string | number>> => [
  ["architecture", `${model.architecture}, ${model.layers} layers of ${model.hiddenSize}, ${model.heads} heads`],
  ["weights", `${model.parameters.toLocaleString("en")} in ${model.weights}`],
  ["feed-forward size", model.feedForwardSize],
  ["vocabulary", model.vocabularySize],
  ["context", `${model.contextTokens} tokens`],
  ["file", `\`${file.name}\`, ${file.bytes.toLocaleString("en")} bytes`],
  ["SHA-256", `\`${file.sha256}\``],
  ["recipe", `\`${training.recipe}\`: \`${training.command}\``],
  ["seeds", training.seeds.join(", ")],
  ["trained in", `${training.minutes} minutes on ${training.hardware}`]
]

/** Renders the card as a Markdown page. */
export const markdown = (card: ModelCard): string =>
  `${[
    `# ${card.name}`,
    card.description,
    `Licence: ${card.licence}. Trained on ${card.date}. This page is written from [model/card.json](model/card.json).`,
    "## What it is for",
    list(card.uses),
    "## What it is not for",
    list(card.limits),
    "## What it reaches",
    metricsOf(card.metrics),
    "## What it is",
    table(["", ""], partsOf(card)),
    "## How it was trained",
    table(
      ["phase", "kind", "steps"],
      card.training.phases.map(({ name, steps, type }) => [name, type, steps])
    ),
    "## What it was trained on",
    list(card.data.map(({ description, licence, name }) => `**${name}** (${licence}): ${description}`)),
    "## Versions",
    list(Object.entries(card.versions).map(([name, version]) => `${name} ${version}`))
  ].join("\n\n")}\n`

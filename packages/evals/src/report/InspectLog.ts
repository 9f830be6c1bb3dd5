/**
 * Converts evaluations to the log format of inspect_ai (version 2), for `inspect view` and `read_eval_log`.
 *
 * An inspect log is for one task and one model, so there is one log per policy and benchmark. The workers of a run
 * appear in the usage by model; its steps are metadata of the sample. Questions and answers of a confidential benchmark
 * are omitted, as in `samples.jsonl`.
 *
 * Source: inspect_ai 0.3, `inspect_ai/log/_log.py`.
 */
import { type Message, Options as Tables, type Task } from "@divisi/core"
import { short } from "../internal/digest.ts"
import * as Report from "./Report.ts"

/** Options for creating logs. */
export interface Options {
  readonly report: Report.Report
  readonly samples: ReadonlyArray<Report.Sample>
  /** Returns the task of a sample. If it is `undefined`, the prompt's hash replaces the question. */
  readonly taskOf: (sample: Report.Sample) => Task.Task | undefined
  /** Time of the evaluation in milliseconds since the Unix epoch. */
  readonly createdMillis: number
}

/** A log with its file name in inspect's format. */
export interface File {
  readonly name: string
  readonly log: Readonly<Record<string, unknown>>
}

interface Usage {
  input_tokens: number
  output_tokens: number
  total_tokens: number
}

const usageOf = (inputTokens: number, outputTokens: number): Usage => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens
})

/** Sums the token usage of samples by worker. */
const usageByWorker = (samples: ReadonlyArray<Report.Sample>): Readonly<Record<string, Usage>> => {
  const usage = new Map<string, Usage>()
  for (const { inputTokens, outputTokens, worker } of samples.flatMap(({ steps }) => steps)) {
    const before = usage.get(worker) ?? usageOf(0, 0)
    usage.set(worker, usageOf(before.input_tokens + inputTokens, before.output_tokens + outputTokens))
  }
  return Object.fromEntries(usage)
}

const imageOf = (part: Message.ImagePart): string =>
  "url" in part ? part.url : `data:${part.mediaType};base64,${part.data}`

const contentOf = (content: Message.Content) =>
  typeof content === "string"
    ? content
    : content.map((part) => {
        if (part.type === "text") return part
        if (part.type === "image") return { type: "image", image: imageOf(part) }
        return { type: "text", text: `[file ${part.name ?? ""}]` }
      })

const messageOf = (message: Message.Message) => {
  const { role } = message
  const content = contentOf(message.content)
  if (role === "tool") return { role, content, tool_call_id: message.callId, function: message.name }
  return { role: role === "developer" ? "system" : role, content }
}

const reply = (content: string, model: string) => ({ role: "assistant", content, source: "generate", model })

const scoreOf = ({ correct, extracted, failure, rung, score }: Report.Sample) => ({
  value: score,
  ...(extracted === undefined ? {} : { answer: extracted }),
  ...(failure === undefined ? {} : { explanation: failure }),
  metadata: { correct, rung }
})

const sampleOf = (sample: Report.Sample, grader: string, task: Task.Task | undefined) => {
  const { answer, benchmark, criticalPath, epoch, missing, policy, score, shape, steps } = sample
  const messages = task?.messages.map(messageOf) ?? []
  const answered = answer === undefined ? [] : [reply(answer, policy)]
  const usage = usageOf(sample.inputTokens, sample.outputTokens)
  const seconds = sample.millis / 1_000
  return {
    id: sample.task,
    epoch: epoch + 1,
    input: task === undefined ? `(the question is not shared; its SHA-256 is ${sample.promptSha256})` : messages,
    ...(Array.isArray(task?.metadata?.options) ? { choices: task.metadata.options } : {}),
    target: task?.reference ?? "",
    messages: [...messages, ...answered],
    output: {
      model: policy,
      choices: answered.map((message) => ({ message, stop_reason: "stop" })),
      completion: answer ?? "",
      usage,
      time: seconds
    },
    ...(score === undefined ? {} : { scores: { [grader]: scoreOf(sample) } }),
    metadata: {
      benchmark,
      stratum: sample.stratum ?? null,
      seed: sample.seed,
      ending: sample.ending,
      cost_usd: sample.costUsd,
      calls: sample.calls,
      failed_calls: sample.failedCalls,
      rounds: sample.rounds,
      shape,
      critical_path: criticalPath.steps,
      steps
    },
    store: {},
    events: [],
    model_usage: usageByWorker([sample]),
    total_time: seconds,
    working_time: seconds,
    uuid: short("inspect", Report.key(sample)),
    ...(missing === undefined ? {} : { error: { message: missing.message, traceback: "", traceback_ansi: "" } }),
    attachments: {}
  }
}

const metric = (name: string, value: Report.Figure) => (value === null ? {} : { [name]: { name, value, params: {} } })

const resultsOf = (cell: Report.Cell, grader: string) => {
  const { mean, missing, samples, standardError } = cell.score
  return {
    total_samples: samples + missing,
    completed_samples: samples,
    scores: [
      {
        name: grader,
        scorer: grader,
        scored_samples: samples,
        unscored_samples: missing,
        params: {},
        metrics: { ...metric("accuracy", mean), ...metric("stderr", standardError) }
      }
    ]
  }
}

/** Converts settings to the ones that inspect supports. */
const generateConfigOf = ({ maxOutputTokens, seed, temperature }: Report.Config) => ({
  seed,
  ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
  ...(temperature === undefined ? {} : { temperature })
})

const fileOf = (
  { createdMillis, report, samples, taskOf }: Options,
  record: Report.BenchmarkRecord,
  cell: Report.Cell
): File => {
  const { config, versions } = report
  const { benchmark, grader } = record
  const created = new Date(Math.floor(createdMillis / 1_000) * 1_000).toISOString().replace(".000Z", "+00:00")
  const id = (what: string) => short("inspect", what, benchmark, cell.policy, record.idsSha256, created)
  const own = samples.filter((sample) => sample.benchmark === benchmark && sample.policy === cell.policy)
  const ids = [...new Set(own.map(({ task }) => task))]
  const taskName = benchmark.replaceAll(/[^\w.-]+/g, "-")
  return {
    name: `${created.slice(0, 19).replaceAll(":", "-")}-00-00_${taskName}_${id("task")}.json`,
    log: {
      version: 2,
      status: report.extent.status === "complete" ? "success" : "cancelled",
      eval: {
        eval_id: id("eval"),
        run_id: short("inspect", "run", created),
        created,
        task: benchmark,
        task_id: id("task"),
        task_version: record.prompt,
        task_args: record.shots === undefined ? {} : { shots: record.shots.count },
        solver: cell.policy,
        dataset: {
          name: record.dataset ?? benchmark,
          samples: record.selected,
          sample_ids: ids,
          shuffled: false
        },
        model: cell.policy,
        model_generate_config: generateConfigOf(config),
        config: { epochs: config.epochs },
        packages: versions,
        metadata: { divisi: { benchmark: record, config, pool: report.pool } },
        scorers: [{ name: grader }]
      },
      plan: { name: "plan", steps: [{ solver: cell.policy, params: {} }], config: generateConfigOf(config) },
      results: resultsOf(cell, grader),
      stats: { started_at: created, completed_at: created, model_usage: usageByWorker(own) },
      samples: own.map((sample) => sampleOf(sample, grader, record.isConfidential ? undefined : taskOf(sample)))
    }
  }
}

const table = Tables.table(
  {
    report: Tables.anObject,
    samples: Tables.expects("a list of samples", Array.isArray),
    taskOf: Tables.aFunction,
    createdMillis: Tables.number(0, 8.64e15)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["report", "samples", "taskOf", "createdMillis"] }
)

/**
 * Returns the logs of an evaluation, one per policy and benchmark.
 *
 * **Example**
 *
 * ```ts
 * import { InspectLog, type Report } from "@divisi/evals"
 *
 * const logsOf = (report: Report.Report, samples: ReadonlyArray<Report.Sample>) =>
 *   InspectLog.make({ report, samples, taskOf: () => undefined, createdMillis: 0 }).map(({ name }) => name)
 * ```
 */
export const make = (options: Options): ReadonlyArray<File> => {
  Tables.check("InspectLog.make", options, table)
  return options.report.benchmarks.flatMap((record) =>
    options.report.cells
      .filter(({ benchmark }) => benchmark === record.benchmark)
      .map((cell) => fileOf(options, record, cell))
  )
}

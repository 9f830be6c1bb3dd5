/** Collects request metrics in Prometheus format. They include no content from requests or answers. */
import type { Resilience } from "@divisi/core"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type * as RequestLog from "./RequestLog.ts"
import type { FailedStep } from "./wire/Wire.ts"

/** Metrics collected by a server. */
export interface Metrics {
  readonly log: RequestLog.Log
  /** Counts an internal server error. */
  readonly defect: (part: string) => void
  /** Returns the metrics as Prometheus text, including a line for each closed provider. */
  readonly text: (running: number, bytesInFlight: number, closed?: ReadonlyArray<Resilience.ClosedProvider>) => string
}

type Labels = Readonly<Record<string, string>>

const boundaries = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300]

const counter = (name: string, description: string, attributes: Labels) =>
  Metric.counter(name, { description, attributes, incremental: true })

/** Returns the metrics for one combination of labels. */
const of = (labels: Labels, ending: Labels) => ({
  requests: counter("divisi_requests_total", "Completed requests, by wire, model, status and ending", {
    ...labels,
    ...ending
  }),
  duration: Metric.histogram("divisi_request_duration_seconds", {
    description: "Duration from a request to the end of its response",
    attributes: labels,
    boundaries
  }),
  calls: counter("divisi_calls_total", "Calls to workers and policies", labels),
  inputTokens: counter("divisi_input_tokens_total", "Input tokens", labels),
  outputTokens: counter("divisi_output_tokens_total", "Output tokens", labels),
  costUsd: counter("divisi_cost_usd_total", "Cost in USD of calls with a known price", labels)
})

const failedStep = ({ by, reason, step, worker }: FailedStep) =>
  counter("divisi_failed_steps_total", "Calls that failed permanently, by worker, reason and caller", {
    worker,
    reason: reason ?? "other",
    by: by ?? (step === undefined ? "policy" : "step")
  })

const open = Metric.gauge("divisi_runs_running", { description: "Running runs" })

const inFlight = Metric.gauge("divisi_request_bytes_in_flight", { description: "Bytes of requests in flight" })

/** Returns one line for each closed provider. The value is the time of the next trial call, in seconds since 1970. */
const closedText = (closed: ReadonlyArray<Resilience.ClosedProvider>): string => {
  // Uses a new registry for each response, so that a provider that has reopened leaves no stale line.
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { because, provider, until } of closed) {
    Metric.gauge("divisi_provider_closed_until_seconds", {
      description: "Time until which no calls are sent to a provider",
      attributes: { provider, because }
    }).updateUnsafe(Math.ceil(until / 1000), context)
  }
  return closed.length === 0 ? "" : `\n${PrometheusMetrics.formatUnsafe(context)}`
}

/**
 * Creates metrics with all counters at zero. Unknown models are counted as `other`, because clients can send any name.
 */
export const make = (modelOf: (asked: string) => string | undefined): Metrics => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  // Caches metrics by label, because Effect resolves the labels of a metric on each lookup. The number of entries is
  // bounded by the combinations of wire, model, status and ending.
  const all = new Map<string, ReturnType<typeof of>>()

  const counted = (wire: string, model: string, status: string, ending: string) => {
    const key = `${wire} ${status} ${ending} ${model}`
    const found = all.get(key)
    if (found !== undefined) return found
    const made = of({ wire, model }, { status, ending })
    all.set(key, made)
    return made
  }

  const log: RequestLog.Log = (entry) => {
    const { ending = "none", model = "none", status, wire } = entry
    // The excluded workers after a model name would make the label unbounded, so they are left out.
    const metrics = counted(wire, modelOf(model) ?? "other", `${status}`, ending)
    metrics.requests.updateUnsafe(1, context)
    metrics.duration.updateUnsafe(entry.durationMillis / 1000, context)
    metrics.calls.updateUnsafe(entry.calls, context)
    metrics.inputTokens.updateUnsafe(entry.inputTokens, context)
    metrics.outputTokens.updateUnsafe(entry.outputTokens, context)
    metrics.costUsd.updateUnsafe(entry.costUsd, context)
    for (const failed of entry.failedSteps ?? []) failedStep(failed).updateUnsafe(1, context)
  }

  const text = (
    running: number,
    bytesInFlight: number,
    closed: ReadonlyArray<Resilience.ClosedProvider> = []
  ): string => {
    open.updateUnsafe(running, context)
    inFlight.updateUnsafe(bytesInFlight, context)
    return `${PrometheusMetrics.formatUnsafe(context)}${closedText(closed)}`
  }

  const defects = new Map<string, ReturnType<typeof counter>>()

  const defect = (part: string): void => {
    const made = defects.get(part) ?? counter("divisi_defects_total", "Internal errors, by component", { part })
    defects.set(part, made)
    made.updateUnsafe(1, context)
  }

  return { log, defect, text }
}

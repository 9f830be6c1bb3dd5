/** What a server counts of its requests, in Prometheus' form: nothing of what was asked or answered. */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type * as RequestLog from "./RequestLog.ts"

/** The metrics of a server. */
export interface Metrics {
  readonly log: RequestLog.Log
  /** All of them as text. */
  readonly text: (running: number) => string
}

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

const requests = counter("divisi_requests_total", "Requests that are over, by wire, model, status and ending")
const calls = counter("divisi_calls_total", "Calls of workers and policies")
const inputTokens = counter("divisi_input_tokens_total", "Tokens that were read")
const outputTokens = counter("divisi_output_tokens_total", "Tokens that were written")
const costUsd = counter("divisi_cost_usd_total", "USD, over the calls whose price is known")
const duration = Metric.histogram("divisi_request_duration_seconds", {
  description: "From a request to the end of its response",
  boundaries: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300]
})
const open = Metric.gauge("divisi_runs_running", { description: "Runs that go on" })

/** Begins to count. A model that is none of `names` is counted as `other`: clients may name what they like. */
export const make = (names: ReadonlyArray<string>): Metrics => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  const known = new Set(names)

  const log: RequestLog.Log = (entry) => {
    const { durationMillis, ending = "none", model = "none", status, wire } = entry
    const attributes = { wire, model: known.has(model) ? model : "other" }
    const update = (metric: Metric.Metric<number, unknown>, value: number, more: Record<string, string> = {}) =>
      Metric.withAttributes(metric, { ...attributes, ...more }).updateUnsafe(value, context)
    update(requests, 1, { status: `${status}`, ending })
    update(duration, durationMillis / 1000)
    update(calls, entry.calls)
    update(inputTokens, entry.inputTokens)
    update(outputTokens, entry.outputTokens)
    update(costUsd, entry.costUsd)
  }

  const text = (running: number): string => {
    open.updateUnsafe(running, context)
    return PrometheusMetrics.formatUnsafe(context)
  }

  return { log, text }
}

/** Exports telemetry if `OTEL_EXPORTER_OTLP_ENDPOINT` is set. Otherwise no telemetry code is loaded. */
import { read } from "@divisi/recipes/Environment"
import type { TrainingEvent } from "@divisi/trainer"
import * as Effect from "effect/Effect"

const exporters = {
  TRACES: () => import("effect/observability/OtlpTracer"),
  METRICS: () => import("effect/observability/OtlpMetrics")
}

type Signal = keyof typeof exporters

const layer = (signal: Signal, serviceName: string) =>
  Effect.promise(async () => {
    const [exporter, ConfigProvider, FetchHttpClient, Layer, OtlpSerialization] = await Promise.all([
      exporters[signal](),
      import("effect/ConfigProvider"),
      import("effect/http/FetchHttpClient"),
      import("effect/Layer"),
      import("effect/observability/OtlpSerialization")
    ])
    // Sets the specification's default, which the exporter does not implement.
    const settings = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ [`OTEL_${signal}_EXPORTER`]: "otlp" }))
    return exporter
      .layerFromConfig({ resource: { serviceName } })
      .pipe(Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson, settings]))
  })

/** Returns the exporter for a signal if the environment defines an endpoint for it. */
const exporterOf = Effect.fnUntraced(function* (signal: Signal) {
  const ofSignal = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`
  const environment = yield* read(["OTEL_EXPORTER_OTLP_ENDPOINT", ofSignal, "OTEL_SERVICE_NAME"])
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, [ofSignal]: own = endpoint } = environment
  return own === undefined ? undefined : yield* layer(signal, environment.OTEL_SERVICE_NAME ?? "divisi")
})

/** Runs an effect and exports its spans for requests, runs and calls. */
export const traced = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(exporterOf("TRACES"), (exporter) =>
    exporter === undefined ? effect : Effect.provide(effect, exporter)
  )

/** Runs a function with a training listener whose events are exported as metrics. */
export const metered = <A, E>(
  use: (listener: TrainingEvent.Listener | undefined) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const exporter = yield* exporterOf("METRICS")
    if (exporter === undefined) return yield* use(undefined)
    const Telemetry = yield* Effect.promise(() => import("@divisi/trainer").then(({ Telemetry }) => Telemetry))
    return yield* Effect.provide(Effect.flatMap(Telemetry.listener, use), exporter)
  })

/** Metrics for a collector: where `OTEL_EXPORTER_OTLP_ENDPOINT` names one, a training run sends it what it measures. */

import { read } from "@divisi/recipes/Environment"
import type { Listener } from "@divisi/trainer/TrainingEvent"
import * as Effect from "effect/Effect"

const environment = read(["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_SERVICE_NAME"])

const layer = (serviceName: string) =>
  Effect.promise(async () => {
    const [ConfigProvider, FetchHttpClient, Layer, OtlpMetrics, OtlpSerialization] = await Promise.all([
      import("effect/ConfigProvider"),
      import("effect/http/FetchHttpClient"),
      import("effect/Layer"),
      import("effect/observability/OtlpMetrics"),
      import("effect/observability/OtlpSerialization")
    ])
    // The specification's default, which the exporter does not have.
    const settings = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ OTEL_METRICS_EXPORTER: "otlp" }))
    return OtlpMetrics.layerFromConfig({ resource: { serviceName } }).pipe(
      Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson, settings])
    )
  })

/**
 * Runs what is given a listener, and sends what the listener hears while it runs. Without an endpoint nothing is
 * loaded.
 */
export const provide = <A, E>(use: (listener: Listener | undefined) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: metricsEndpoint = endpoint,
      OTEL_SERVICE_NAME: serviceName = "divisi"
    } = yield* environment
    if (metricsEndpoint === undefined) return yield* use(undefined)
    const Telemetry = yield* Effect.promise(() => import("@divisi/trainer/Telemetry"))
    return yield* Effect.provide(Effect.flatMap(Telemetry.listener, use), yield* layer(serviceName))
  })

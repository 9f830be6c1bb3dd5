/** Metrics for a collector: where `OTEL_EXPORTER_OTLP_ENDPOINT` names one, a training run sends it what it measures. */
import type { Listener } from "@divisi/trainer/TrainingEvent"
import * as Effect from "effect/Effect"

const isWanted = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)

const layer = Effect.promise(async () => {
  const [ConfigProvider, FetchHttpClient, Layer, OtlpMetrics, OtlpSerialization] = await Promise.all([
    import("effect/ConfigProvider"),
    import("effect/http/FetchHttpClient"),
    import("effect/Layer"),
    import("effect/observability/OtlpMetrics"),
    import("effect/observability/OtlpSerialization")
  ])
  // The specification's default, which the exporter does not have.
  const environment = ConfigProvider.fromEnv({ env: { OTEL_METRICS_EXPORTER: "otlp", ...process.env } })
  return OtlpMetrics.layerFromConfig({ resource: { serviceName: process.env.OTEL_SERVICE_NAME ?? "divisi" } }).pipe(
    Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson, ConfigProvider.layer(environment)])
  )
})

/**
 * Runs what is given a listener, and sends what the listener hears while it runs. Without an endpoint nothing is
 * loaded.
 */
export const provide = <A, E>(use: (listener: Listener | undefined) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    if (!isWanted(process.env)) return yield* use(undefined)
    const Telemetry = yield* Effect.promise(() => import("@divisi/trainer/Telemetry"))
    return yield* Effect.provide(Effect.flatMap(Telemetry.listener, use), yield* layer)
  })

/** Spans for a collector: where `OTEL_EXPORTER_OTLP_ENDPOINT` names one, requests, runs and calls are sent to it. */
import { read } from "@divisi/recipes/Environment"
import * as Effect from "effect/Effect"

const environment = read(["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME"])

const layer = (serviceName: string) =>
  Effect.promise(async () => {
    const [ConfigProvider, FetchHttpClient, Layer, OtlpSerialization, OtlpTracer] = await Promise.all([
      import("effect/ConfigProvider"),
      import("effect/http/FetchHttpClient"),
      import("effect/Layer"),
      import("effect/observability/OtlpSerialization"),
      import("effect/observability/OtlpTracer")
    ])
    // The specification's default, which the exporter does not have.
    const settings = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ OTEL_TRACES_EXPORTER: "otlp" }))
    return OtlpTracer.layerFromConfig({ resource: { serviceName } }).pipe(
      Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson, settings])
    )
  })

/** Runs what makes spans, and sends them while it runs. Without an endpoint nothing is loaded. */
export const provide = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint = endpoint,
      OTEL_SERVICE_NAME: serviceName = "divisi"
    } = yield* environment
    return tracesEndpoint === undefined ? yield* effect : yield* Effect.provide(effect, yield* layer(serviceName))
  })

/**
 * Records runs as spans in programs that use OpenTelemetry. Works with the OpenTelemetry API without depending on its
 * package.
 */
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { kindOf, OptionsError } from "../Options.ts"
import { messageOf } from "../Thrown.ts"
import * as Telemetry from "./Telemetry.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The subset of a span from `@opentelemetry/api` that is used here. */
interface ApiSpan {
  spanContext(): { readonly spanId: string; readonly traceId: string; readonly traceFlags: number }
  setAttribute(key: string, value: never): unknown
  addEvent(name: string, attributes: never, time: number): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  end(time: number): void
}

/**
 * The subset of `@opentelemetry/api` that is used here. Pass the module: `import * as api from "@opentelemetry/api"`.
 */
export interface Api<Ctx = never, Span = never> {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: { readonly kind: number; readonly startTime: number }, context: Ctx): ApiSpan
    }
    setSpan(context: Ctx, span: Span): unknown
  }
  readonly context: {
    active(): unknown
    with<A>(context: Ctx, run: () => A): A
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Spans
// -------------------------------------------------------------------------------------------------------------------

const millis = (nanos: bigint): number => Number(nanos / 1_000n) / 1_000

const kinds: { readonly [Kind in Tracer.SpanKind]: number } = {
  internal: 0,
  server: 1,
  client: 2,
  producer: 3,
  consumer: 4
}

const sampledFlag = 1
const errorStatus = 2

/** An Effect span backed by an OpenTelemetry span. */
class Span implements Tracer.Span {
  readonly _tag = "Span"
  readonly spanId: string
  readonly traceId: string
  readonly sampled: boolean
  readonly status: Tracer.SpanStatus
  readonly attributes = new Map<string, unknown>()
  readonly annotations = Context.empty()
  readonly links: ReadonlyArray<Tracer.SpanLink> = []

  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly inner: ApiSpan

  constructor(inner: ApiSpan, options: Parameters<Tracer.Tracer["span"]>[0]) {
    const { spanId, traceFlags, traceId } = inner.spanContext()
    this.inner = inner
    this.spanId = spanId
    this.traceId = traceId
    this.sampled = (traceFlags & sampledFlag) !== 0
    this.name = options.name
    this.kind = options.kind
    this.parent = options.parent
    this.status = { _tag: "Started", startTime: options.startTime }
  }

  attribute(key: string, value: unknown): void {
    this.inner.setAttribute(key, value as never)
  }

  event(name: string, startTime: bigint, attributes: Record<string, unknown> = {}): void {
    this.inner.addEvent(name, attributes as never, millis(startTime))
  }

  addLinks(): void {}

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (Exit.isFailure(exit)) {
      const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
      this.inner.setStatus({ code: errorStatus, message: error === undefined ? "interrupted" : messageOf(error) })
    }
    this.inner.end(millis(endTime))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a recorder that writes spans to the program's OpenTelemetry setup. Pass it to a run as `telemetry`.
 *
 * **Details**
 *
 * A run's span is a child of the span that is active when the run starts. Names and attributes are the same as in
 * `Telemetry`: runs, rounds, steps, calls with tokens and cost, and tools, following the semantic conventions for
 * generative AI. While worker, tool, policy or check code is running, the corresponding span is active, so spans
 * created by that code become its children. Questions and answers are recorded only if `content` is `true`.
 *
 * **Example**
 *
 * ```ts no-run
 * import * as api from "@opentelemetry/api"
 * import { conduct, openTelemetry, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * await conduct({ question: "What is 6 times 7?", pool, policy: single(0), telemetry: openTelemetry(api) })
 * ```
 */
export const openTelemetry = (api: Api, options: Telemetry.Options = {}): Telemetry.SpanRecorder => {
  if (typeof (api as Partial<Api> | undefined)?.trace?.getTracer !== "function") {
    const detail = `expected the module "@opentelemetry/api", as in openTelemetry(api), not ${kindOf(api)}.`
    throw new OptionsError({ what: "openTelemetry", detail })
  }
  const tracer = api.trace.getTracer("@divisi/core")
  return Telemetry.recorder(
    {
      // Makes spans created by user code children of the span for the current part of the run.
      context: (primitive, fiber) => {
        const evaluate = () => primitive["~effect/Effect/evaluate"](fiber)
        const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
        if (!(span instanceof Span)) return evaluate()
        return api.context.with(
          api.trace.setSpan(api.context.active() as never, span.inner as never) as never,
          evaluate
        )
      },
      span: (asked) => {
        const parent = Option.getOrUndefined(asked.parent)
        const active = api.context.active() as never
        const context = parent instanceof Span ? (api.trace.setSpan(active, parent.inner as never) as never) : active
        const start = { kind: kinds[asked.kind], startTime: millis(asked.startTime) }
        return new Span(tracer.startSpan(asked.name, start, context), asked)
      }
    },
    options
  )
}

/**
 * Warnings about a run that continues. `Effect.logWarning` is not used, because it brings all loggers of Effect into
 * every bundle.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Logger from "effect/Logger"
import * as References from "effect/References"

/** The loggers that the program configured, read by the key of `Logger.CurrentLoggers` without its default. */
const Loggers = Context.Reference<ReadonlySet<Logger.Logger<unknown, unknown>> | undefined>(
  "effect/Logger/CurrentLoggers",
  { defaultValue: () => undefined }
)

const silent: ReadonlySet<string> = new Set(["Error", "Fatal", "None"])

/**
 * Logs a warning with the program's loggers. Without loggers, the warning is written to stderr, because stdout may carry
 * a protocol.
 */
export const log = (message: string): Effect.Effect<void> =>
  Effect.withFiberSucceed((fiber) => {
    if (silent.has(fiber.getRef(References.MinimumLogLevel))) return
    const loggers = fiber.getRef(Loggers)
    if (loggers === undefined) return console.error(`Warning: ${message}`)
    const date = new Date(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
    for (const logger of loggers) logger.log({ message: [message], logLevel: "Warn", cause: Cause.empty, fiber, date })
  })

/** Offline evaluations, which use the answers of an earlier evaluation and make no calls. */
import { existsSync } from "node:fs"
import path from "node:path"
import { ReportFile } from "@divisi/evals"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { type Failure, usage } from "../invocation/Failure.ts"
import { vendors } from "../vendors/Vendors.ts"

/** Returns the answer cache in an evaluation's folder. A path to a `.sqlite` file is returned unchanged. */
export const answersOf = (place: string): string =>
  place.endsWith(".sqlite") ? place : path.join(place, ReportFile.names.answers)

/** Fails if the answer cache does not exist, because opening it would create an empty file. */
export const check = (place: string): Effect.Effect<void, Failure> =>
  existsSync(answersOf(place))
    ? Effect.void
    : Effect.fail(
        usage(
          `--offline: ${answersOf(place)} does not exist. Pass the folder of an evaluation, or a file written with --cache.`
        )
      )

/** Provides placeholder API keys for vendors that require one, since no calls are made. */
export const keys = ConfigProvider.layerAdd(
  ConfigProvider.fromUnknown(
    Object.fromEntries(vendors.flatMap(({ keys, needsKey }) => (needsKey ? keys.map((key) => [key, "offline"]) : [])))
  )
)

/** Offline evaluations: they make no calls and use the answers of another evaluation. */
import { existsSync } from "node:fs"
import path from "node:path"
import { ReportFile } from "@divisi/evals"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { type Failure, usage } from "../invocation/Failure.ts"
import { vendors } from "../vendors/Vendors.ts"

/** Returns the file of answers of an evaluation's folder; a file is returned unchanged. */
export const answersOf = (place: string): string =>
  place.endsWith(".sqlite") ? place : path.join(place, ReportFile.names.answers)

/** Fails if the file of answers does not exist, because it would be created empty. */
export const check = (place: string): Effect.Effect<void, Failure> =>
  existsSync(answersOf(place))
    ? Effect.void
    : Effect.fail(
        usage(
          `--offline: ${answersOf(place)} is not there. Give the folder of an evaluation, or the file of its --cache.`
        )
      )

/** Vendors that are not called need no key: if the environment has no key, a placeholder is used. */
export const keys = ConfigProvider.layerAdd(
  ConfigProvider.fromUnknown(
    Object.fromEntries(vendors.flatMap(({ keys, needsKey }) => (needsKey ? keys.map((key) => [key, "offline"]) : [])))
  )
)

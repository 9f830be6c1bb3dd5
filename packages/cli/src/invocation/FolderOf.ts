/** Checks the folder of a file that the user named, before the file is opened or a run is paid for. */
import { accessSync, constants, statSync } from "node:fs"
import path from "node:path"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "./Failure.ts"

/** Fails if the folder of a file does not exist or does not permit the access, or if the file is a folder. */
export const check = (
  file: string,
  access: "read" | "write",
  what: "journal" | "transcript"
): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => {
      const folder = path.dirname(path.resolve(file))
      const found = statSync(folder, { throwIfNoEntry: false })
      if (found === undefined) throw new Error(`the folder ${folder} does not exist`)
      if (!found.isDirectory()) throw new Error(`${folder} is not a folder`)
      accessSync(folder, access === "write" ? constants.W_OK : constants.X_OK)
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${file} is a folder`)
    },
    catch: (error) => usage(`Cannot ${access} the ${what}: ${messageOf(error)}.`)
  })

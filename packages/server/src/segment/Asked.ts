/**
 * The settings of the request that started a run. They are stored with the run, so that it can be resumed by its id alone:
 * a resumed run must make the same calls.
 */
import { Fields } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import * as Json from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"

/** The stored fields of a request. */
export type Asked = Pick<Request, "model" | "output" | "settings"> &
  Pick<Request["choice"], "costUsd" | "policy" | "seed">

/** A larger answer shape is not stored; a run with one can be resumed by its client only. */
const maxOutputCharacters = 16_384

/** Returns the fields of a request to store. */
export const of = ({ choice, model, output, settings }: Request): Asked => {
  const { costUsd, policy, seed } = choice
  const stored = output === undefined || Json.sizeOf(output) > maxOutputCharacters ? undefined : output
  return Fields.defined({ model, output: stored, settings, costUsd, policy, seed }) as Asked
}

/** Returns the stored fields of a run's task; those of a run without them are the defaults of the model `divisi`. */
export const inTask = ({ metadata }: Pick<Task, "metadata">): Asked => {
  const asked = metadata?.asked
  return Json.isObject(asked) && typeof asked.model === "string"
    ? ({ settings: {}, ...asked } as Asked)
    : { model: "divisi", settings: {} }
}

/**
 * The settings of the request that started a run. They are stored with the run, because a run that is resumed by id
 * must make the same calls.
 */
import { Fields } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import * as Json from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"

/** The request fields that are stored. */
export type Asked = Pick<Request, "model" | "output" | "settings"> &
  Pick<Request["choice"], "costUsd" | "policy" | "seed">

/**
 * Maximum size of an output schema to store, in characters. A run with a larger schema can be resumed only by its
 * client.
 */
const maxOutputCharacters = 16_384

/** Returns the fields of a request to store. */
export const of = ({ choice, model, output, settings }: Request): Asked => {
  const { costUsd, policy, seed } = choice
  const stored = output === undefined || Json.sizeOf(output) > maxOutputCharacters ? undefined : output
  return Fields.defined({ model, output: stored, settings, costUsd, policy, seed }) as Asked
}

/** Returns the stored fields of a run's task, or the defaults for the model `divisi` if nothing was stored. */
export const inTask = ({ metadata }: Pick<Task, "metadata">): Asked => {
  const asked = metadata?.asked
  return Json.isObject(asked) && typeof asked.model === "string"
    ? ({ settings: {}, ...asked } as Asked)
    : { model: "divisi", settings: {} }
}

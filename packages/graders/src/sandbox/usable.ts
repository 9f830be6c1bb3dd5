/** Validates the options of sandboxes. */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import { SandboxError } from "./Sandbox.ts"

/** The valid range of concurrent programs, shared by all sandboxes. */
export const processes = Tables.whole(1, 1024)

/** Fails with a `SandboxError` that names the invalid option. */
export const usable = (what: string, options: unknown, table: Tables.Table | Tables.Shape) =>
  Effect.mapError(
    Tables.checked(what, options, table),
    ({ message }) =>
      new SandboxError({ sandbox: what.split("Sandbox")[0]!.toLowerCase(), reason: "options", detail: message })
  )

/** Flags of `divisi pool`. */
import type * as Command from "effect/cli/Command"
import { text, timeout, toggle } from "../invocation/flags.ts"
import { conductorFlags } from "../team/flags.ts"

export const checkFlags = {
  pool: conductorFlags.pool,
  price: conductorFlags.price,
  config: conductorFlags.config,
  timeout: timeout("Maximum time to wait for an answer (default 60s)"),
  server: text(
    "server",
    "<url>",
    "Also show the cooldowns of a running divisi serve, e.g. http://127.0.0.1:8080 (default: DIVISI_SERVER, or none)"
  ),
  json: toggle("json", "Print one line of JSON per worker")
}

/** Input of `divisi pool check`. */
export type CheckInput = Command.Command.Config.Infer<typeof checkFlags>

export const listFlags = {
  config: conductorFlags.config,
  json: toggle("json", "Print as one line of JSON")
}

/** Input of `divisi pool list`. */
export type ListInput = Command.Command.Config.Infer<typeof listFlags>

/**
 * Serves the three rule-based workers until stopped: `node --conditions=@divisi/source verify/clients/src/serve.ts
 * 8080`.
 */
import * as Effect from "effect/Effect"
import * as Serving from "./Serving.ts"

const [port = "0"] = process.argv.slice(2)

const log = (entry: object) => void process.stderr.write(`${JSON.stringify(entry)}\n`)

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = yield* Serving.make({ port: Number(port), log })
      process.stdout.write(`${url}\n`)
      return yield* Effect.never
    })
  )
)

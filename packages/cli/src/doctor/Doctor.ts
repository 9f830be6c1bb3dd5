/** `divisi doctor`: reports which runtime is used for local models on this machine and why, and what is missing. */
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as LocalModels from "../vendors/LocalModels.ts"
import { table, toLeft } from "../view/Table.ts"

const print = (text: string) => Effect.sync(() => void stdout.write(`${text}\n`))

/** Prints the diagnosis. */
export const diagnose = Effect.fnUntraced(function* (input: {
  readonly json: boolean
}): Effect.fn.Return<void, Failure> {
  const { Inspection, LlamaCppError } = yield* LocalModels.loaded
  const diagnosis = yield* Effect.mapError(Inspection.diagnose(), ({ message }) => failed(message))
  if (input.json) return yield* print(JSON.stringify(diagnosis))
  const { formatBytes } = LlamaCppError
  const memory = ({ free, total }: { readonly free: number; readonly total: number }) =>
    `${formatBytes(free)} free of ${formatBytes(total)}`
  yield* print(
    table(
      [
        ["backend", `${diagnosis.backend}: ${diagnosis.why}`],
        ["devices", diagnosis.devices.join(", ")],
        ["cores", String(diagnosis.cores)],
        ["main memory", memory(diagnosis.mainMemory)],
        ...(diagnosis.backend === "processor" ? [] : [["GPU memory", memory(diagnosis.gpuMemory)]]),
        ["llama.cpp", diagnosis.release],
        ["models", diagnosis.folder]
      ],
      toLeft
    )
  )
  if (diagnosis.missing.length > 0) yield* print(`\n${diagnosis.missing.join("\n")}`)
})

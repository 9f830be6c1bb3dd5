/** `divisi train report`: a run as one page. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import * as Report from "@divisi/trainer/Report"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import type { ReportInput } from "./flags.ts"

/** Writes the page, and prints where it is. */
export const write = Effect.fnUntraced(function* (input: ReportInput): Effect.fn.Return<void, Failure> {
  const summary = yield* Effect.mapError(Report.read(input.folder), (error) => usage(error.message))
  const file = Option.getOrElse(input.out, () => path.join(input.folder, "report.html"))
  yield* Effect.try({
    try: () => writeFileSync(file, Report.render(summary)),
    catch: (error) => failed(`The report cannot be written: ${messageOf(error)}`)
  })
  yield* Effect.sync(() => void process.stdout.write(`${file}\n`))
})

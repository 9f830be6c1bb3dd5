/** `divisi eval export --to inspect`: exports an evaluation as inspect_ai logs. */
import { statSync } from "node:fs"
import path from "node:path"
import { InspectLog, ReportFile } from "@divisi/evals"
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as Format from "../view/Format.ts"
import * as RecordedSuite from "./RecordedSuite.ts"

/** Writes the logs to a folder. Each file is written atomically. */
export const write = (folder: string, out: string, options: RecordedSuite.Options): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { report, samples } = yield* Effect.mapError(
      Effect.all({ report: ReportFile.read(folder), samples: ReportFile.readSamples(folder) }),
      (error) => usage(error.message)
    )
    const shared = report.benchmarks.filter(({ isConfidential }) => !isConfidential)
    const suites = yield* Effect.scoped(Effect.forEach(shared, (record) => RecordedSuite.load(record, options)))
    const tasks = new Map(
      suites.map(({ record, tasks }) => [record.benchmark, new Map(tasks.map((task) => [task.id, task]))])
    )
    const logs = InspectLog.make({
      report,
      samples,
      taskOf: (sample) => tasks.get(sample.benchmark)?.get(sample.task),
      createdMillis: statSync(path.join(folder, ReportFile.names.results)).mtimeMs
    })
    yield* Effect.mapError(
      Effect.andThen(
        WholeFile.makeFolder(out),
        Effect.forEach(logs, ({ log, name }) => WholeFile.write(path.join(out, name), `${JSON.stringify(log)}\n`))
      ),
      ({ message }) => failed(message)
    )
    process.stderr.write(
      `Wrote ${Format.count(logs.length, "log")} to ${out}. View them with: inspect view --log-dir ${out}\n`
    )
  })

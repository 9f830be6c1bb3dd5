/** The rows of the performance table: what is measured, its unit, and Divisi's target. */

export interface Row {
  readonly title: string
  readonly unit: "us" | "ratio" | "KB" | "B" | "ms"
  /** Divisi's target: an upper limit. */
  readonly target: number
  /** Whether each sample requires a new process. */
  readonly fresh: boolean
}

export const rows = {
  run: { title: "5-step run, zero-latency async workers", unit: "us", target: 60, fresh: false },
  recorded: { title: "the same with tracing and a record in memory", unit: "us", target: 100, fresh: false },
  concurrent: { title: "CPU per run, 1,000 at once", unit: "us", target: 170, fresh: false },
  durable: { title: "the run kept on disk, in fsyncs of that disk", unit: "ratio", target: 5.5, fresh: false },
  durableConcurrent: { title: "CPU per run kept on disk, 1,000 at once", unit: "us", target: 300, fresh: false },
  uneven: { title: "uneven DAG over its critical path of 140 ms", unit: "ratio", target: 1.03, fresh: false },
  map: { title: "map over 1,000 items, CPU per item", unit: "us", target: 15, fresh: false },
  wideMap: { title: "map over 4,000 items, CPU per item", unit: "us", target: 15, fresh: false },
  firstMap: { title: "the first map of a process, 1,000 items, CPU per item", unit: "us", target: 41, fresh: true },
  pipeline: {
    title: "two stages over 100 items over the best possible 210 ms",
    unit: "ratio",
    target: 1.05,
    fresh: false
  },
  panel: { title: "panel of 5 over its second slowest expert", unit: "ratio", target: 1.2, fresh: false },
  inFlight: { title: "memory per run in flight, 10,000 at once", unit: "KB", target: 32, fresh: true },
  kept: { title: "memory kept per finished run, no store", unit: "B", target: 0, fresh: true },
  keptStored: { title: "memory kept per finished run, capped store", unit: "B", target: 0, fresh: true },
  firstRun: { title: "import of the package and a first run", unit: "ms", target: 85, fresh: true }
} as const satisfies Record<string, Row>

export type RowId = keyof typeof rows

export const rowIds = Object.keys(rows) as ReadonlyArray<RowId>

/** Sample sizes and durations. */
export interface Settings {
  /** Number of rounds over all contenders. Each contender takes one sample per round. */
  readonly rounds: number
  /** Number of rounds for the memory rows, each of which requires a new process and several seconds. */
  readonly memoryRounds: number
  /** Duration of a sample for `run`, `recorded` and `kept`, and of the warm-up before the first one. */
  readonly sampleMillis: number
  readonly warmUpMillis: number
  readonly concurrentRuns: number
  readonly runsInFlight: number
}

export const fullSettings: Settings = {
  rounds: 15,
  memoryRounds: 3,
  sampleMillis: 250,
  warmUpMillis: 1500,
  concurrentRuns: 1000,
  runsInFlight: 10_000
}

/** Small values for a smoke test. The resulting figures are not meaningful. */
export const quickSettings: Settings = {
  rounds: 2,
  memoryRounds: 1,
  sampleMillis: 40,
  warmUpMillis: 100,
  concurrentRuns: 100,
  runsInFlight: 200
}

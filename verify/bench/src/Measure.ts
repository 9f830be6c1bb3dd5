/** The measurements that run within one contender's process. */
import { fsyncSync, openSync, writeSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import type { Contender, Prepared } from "./Contender.ts"
import {
  expectedOfMapping,
  expectedOfPanel,
  type Mapping,
  panel,
  panelMillis,
  pipeline,
  pipelineMillis,
  wide
} from "./Programs.ts"
import type { RowId, Settings } from "./Row.ts"
import { median, slope } from "./Statistics.ts"
import { temporaryFile } from "./temporary.ts"
import { criticalPathMillis, expected, fiveSteps, type Gate, gated, immediate, timed, uneven } from "./Workload.ts"

/** Takes one sample. */
export type Measurement = () => Promise<number>

// -------------------------------------------------------------------------------------------------------------------
// Running
// -------------------------------------------------------------------------------------------------------------------

const check = (answer: string, plan = fiveSteps): void => {
  if (answer !== expected(plan)) throw new Error(`The run answered "${answer}" instead of "${expected(plan)}".`)
}

const runFor = async (millis: number, { run }: Prepared): Promise<number> => {
  const end = performance.now() + millis
  let runs = 0
  while (performance.now() < end) {
    await run()
    runs += 1
  }
  return runs
}

/** Returns the heap size after a full garbage collection. Finalizers need an event loop turn. */
const heapBytes = async (): Promise<number> => {
  for (let pass = 0; pass < 4; pass++) {
    globalThis.gc!()
    await setImmediate()
  }
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}

/** Starts many runs at once and waits until all of their independent steps have reached the gate. */
const startAll = async (count: number, { run }: Prepared, gate: Gate): Promise<ReadonlyArray<Promise<string>>> => {
  const independent = fiveSteps.steps.filter(({ access }) => access.length === 0).length
  const target = gate.arrivals() + count * independent
  const runs = Array.from({ length: count }, run)
  while (gate.arrivals() < target) await setImmediate()
  return runs
}

// -------------------------------------------------------------------------------------------------------------------
// Measurements
// -------------------------------------------------------------------------------------------------------------------

/** Median time per run in microseconds, for runs executed one after another. */
const latency = async (prepared: Prepared, settings: Settings): Promise<Measurement> => {
  await runFor(settings.warmUpMillis, prepared)
  return async () => {
    const times: Array<number> = []
    const end = performance.now() + settings.sampleMillis
    for (let start = performance.now(); start < end || times.length < 10; start = performance.now()) {
      await prepared.run()
      times.push((performance.now() - start) * 1000)
    }
    return median(times)
  }
}

/**
 * Time per run, for runs executed one after another, divided by the time for one acknowledged disk write. Both are
 * measured alternately.
 */
const inFsyncs = async (prepared: Prepared, settings: Settings): Promise<Measurement> => {
  const run = await checkedLatency(prepared, settings)
  const file = openSync(temporaryFile("fsync"), "w")
  const page = Buffer.alloc(4096)
  const write = async () => {
    writeSync(file, page)
    fsyncSync(file)
    return ""
  }
  const fsync = await latency({ run: write }, settings)
  return async () => (await run()) / (await fsync())
}

const checkedLatency = async (prepared: Prepared, settings: Settings): Promise<Measurement> => {
  check(await prepared.run())
  return latency(prepared, settings)
}

/** CPU time of the whole process per run, in microseconds. Many runs are in flight before the first can continue. */
const concurrent = async (prepare: Contender["prepare"], settings: Settings): Promise<Measurement> => {
  const gate = gated(fiveSteps)
  const prepared = await prepare(gate.workload)
  const batch = async () => {
    gate.close()
    const before = process.cpuUsage()
    const runs = await startAll(settings.concurrentRuns, prepared, gate)
    gate.open()
    for (const answer of await Promise.all(runs)) check(answer)
    const { system, user } = process.cpuUsage(before)
    return (user + system) / settings.concurrentRuns
  }
  const end = performance.now() + settings.warmUpMillis
  do await batch()
  while (performance.now() < end)
  return batch
}

/** Wall time divided by the length of the critical path. */
const unevenRatio = async (contender: Contender): Promise<Measurement> => {
  const { run } = await contender.prepare(timed(uneven))
  check(await run(), uneven)
  return async () => {
    const start = performance.now()
    await run()
    return (performance.now() - start) / criticalPathMillis(uneven)
  }
}

/** CPU time of the process per item in a mapping, in microseconds. */
const cpuPerItem = async (
  contender: Contender,
  mapping: Mapping,
  warmUpMillis: number
): Promise<Measurement | undefined> => {
  const prepared = await contender.prepareMapping?.(mapping)
  if (prepared === undefined) return undefined
  const wanted = expectedOfMapping(mapping)
  const one = async () => {
    const before = process.cpuUsage()
    const answer = await prepared.run()
    const { system, user } = process.cpuUsage(before)
    if (answer !== wanted) throw new Error(`The run answered "${answer}" instead of "${wanted}".`)
    return (user + system) / mapping.items.length
  }
  if (warmUpMillis === 0) return one
  await runFor(warmUpMillis, { run: async () => String(await one()) })
  return async () => {
    const times: Array<number> = []
    for (let run = 0; run < mapsOfSample; run++) times.push(await one())
    return median(times)
  }
}

const mapsOfSample = 5

/** Wall time of a run divided by the given time. */
const wallRatio = async (
  prepared: Prepared | undefined,
  wanted: ReadonlyArray<string>,
  millis: number,
  warmUpMillis: number
): Promise<Measurement | undefined> => {
  if (prepared === undefined) return undefined
  const one = async () => {
    const start = performance.now()
    const answer = await prepared.run()
    const ratio = (performance.now() - start) / millis
    if (!wanted.includes(answer)) throw new Error(`The run answered "${answer}" instead of "${wanted.join('" or "')}".`)
    return ratio
  }
  await runFor(warmUpMillis, { run: async () => String(await one()) })
  return one
}

/** Heap size in kilobytes per run that waits at the gate. */
const inFlight = async (contender: Contender, settings: Settings): Promise<Measurement> => {
  const gate = gated(fiveSteps)
  const prepared = await contender.prepare(gate.workload)
  const warmUp = await startAll(100, prepared, gate)
  gate.open()
  await Promise.all(warmUp)
  return async () => {
    gate.close()
    const before = await heapBytes()
    const runs = await startAll(settings.runsInFlight, prepared, gate)
    const after = await heapBytes()
    gate.open()
    for (const answer of await Promise.all(runs)) check(answer)
    return (after - before) / settings.runsInFlight / 1000
  }
}

/** Heap growth in bytes per finished run: the slope over several series of runs. */
const kept = async (prepared: Prepared, settings: Settings): Promise<Measurement> => {
  check(await prepared.run())
  await runFor(settings.warmUpMillis, prepared)
  return async () => {
    const points: Array<[runs: number, bytes: number]> = [[0, await heapBytes()]]
    for (let runs = 0; points.length <= 6; ) {
      runs += await runFor(settings.sampleMillis * 4, prepared)
      points.push([runs, await heapBytes()])
    }
    return slope(points)
  }
}

/** Prepares the measurement for a row. `undefined` if the contender does not support it. */
export const prepare = async (
  row: Exclude<RowId, "firstRun">,
  contender: Contender,
  settings: Settings
): Promise<Measurement | undefined> => {
  const workload = immediate(fiveSteps)
  switch (row) {
    case "run":
      return checkedLatency(await contender.prepare(workload), settings)
    case "recorded": {
      const recorded = await contender.prepareRecorded?.(workload)
      return recorded === undefined ? undefined : checkedLatency(recorded, settings)
    }
    case "concurrent":
      return concurrent(contender.prepare, settings)
    case "durable": {
      const durable = await contender.prepareDurable?.(workload)
      return durable === undefined ? undefined : inFsyncs(durable, settings)
    }
    case "durableConcurrent":
      return contender.prepareDurable && concurrent(contender.prepareDurable, settings)
    case "uneven":
      return unevenRatio(contender)
    case "map":
      return cpuPerItem(contender, wide(1000), settings.warmUpMillis)
    case "wideMap":
      return cpuPerItem(contender, wide(4000), settings.warmUpMillis)
    case "firstMap":
      return cpuPerItem(contender, wide(1000), 0)
    case "pipeline":
      return wallRatio(
        await contender.prepareMapping?.(pipeline),
        [expectedOfMapping(pipeline)],
        pipelineMillis,
        settings.warmUpMillis
      )
    case "panel":
      return wallRatio(await contender.preparePanel?.(panel), expectedOfPanel(panel), panelMillis, 1)
    case "inFlight":
      return inFlight(contender, settings)
    case "kept":
      return kept(await contender.prepare(workload), settings)
    case "keptStored": {
      const stored = await contender.prepareStored?.(workload)
      return stored === undefined ? undefined : kept(stored, settings)
    }
  }
}

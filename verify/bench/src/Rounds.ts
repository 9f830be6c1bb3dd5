/** Interleaved rounds: each contender takes one sample per round, in a separate process, one at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { type ContenderId, contenders, type Entry } from "./Contender.ts"
import type { Report, Start } from "./child.ts"
import { type RowId, rows, type Settings } from "./Row.ts"
import { type Summary, summarise } from "./Statistics.ts"

/** Summaries for one row, keyed by contender. */
export type RowResult = Partial<Record<ContenderId, Summary>>

/** A measured row, and what is missing on this machine for contenders that could not run. */
export interface Measured {
  readonly results: RowResult
  readonly skipped: { [Id in ContenderId]?: string }
}

interface Child {
  readonly sample: () => Promise<number>
  readonly end: () => Promise<void>
}

const reply = async (child: ChildProcess, start: Start): Promise<Report> => {
  const stop = new AbortController()
  const ended = once(child, "exit", { signal: stop.signal }).then(() => {
    throw new Error(`The process of ${contenders[start.contender].title} ended while it measured "${start.row}".`)
  })
  const message = once(child, "message", { signal: stop.signal }).then(([report]) => report as Report)
  try {
    return await Promise.race([message, ended])
  } finally {
    stop.abort()
    await Promise.allSettled([message, ended])
  }
}

const open = async (start: Start, skipped: Measured["skipped"]): Promise<Child | undefined> => {
  const child = fork(new URL("./child.js", import.meta.url), {
    // The output of a contender must not mix with the JSON on standard output.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: ["--expose-gc", "--max-old-space-size=4096"]
  })
  const end = async () => {
    if (child.exitCode !== null) return
    const gone = once(child, "exit")
    child.kill()
    await gone
  }
  child.send(start)
  const ready = await reply(child, start)
  if (ready.type === "absent") {
    await end()
    if (ready.why !== undefined) skipped[start.contender] = ready.why
    return undefined
  }
  const sample = async () => {
    child.send("sample")
    const report = await reply(child, start)
    return report.type === "sample" ? report.value : Number.NaN
  }
  return { sample, end }
}

/** Returns the order of contenders in a round. Each contender is first equally often. */
const rotate = <A>(items: ReadonlyArray<A>, by: number): ReadonlyArray<A> => {
  const offset = by % Math.max(1, items.length)
  return [...items.slice(offset), ...items.slice(0, offset)]
}

const summaries = (samples: ReadonlyMap<ContenderId, ReadonlyArray<number>>): RowResult =>
  Object.fromEntries([...samples].map(([id, values]) => [id, summarise(values)]))

/** Uses one process per contender for all rounds. */
const measureWarm = async (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<Measured> => {
  const skipped: Measured["skipped"] = {}
  const children = new Map<ContenderId, Child>()
  const samples = new Map<ContenderId, Array<number>>()
  try {
    for (const contender of ids) {
      const child = await open({ contender, row, settings }, skipped)
      if (child === undefined) continue
      children.set(contender, child)
      samples.set(contender, [])
    }
    for (let round = 0; round < settings.rounds; round++) {
      for (const [id, child] of rotate([...children], round)) samples.get(id)!.push(await child.sample())
    }
  } finally {
    for (const child of children.values()) await child.end()
  }
  return { results: summaries(samples), skipped }
}

/** Uses a new process for each sample. */
const measureFresh = async (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<Measured> => {
  const skipped: Measured["skipped"] = {}
  const samples = new Map<ContenderId, Array<number>>()
  const rounds = row === "firstRun" ? settings.rounds : settings.memoryRounds
  for (let round = 0; round < rounds; round++) {
    for (const contender of rotate(ids, round)) {
      const child = await open({ contender, row, settings }, skipped)
      if (child === undefined) continue
      const values = samples.get(contender) ?? []
      samples.set(contender, [...values, await child.sample()])
      await child.end()
    }
  }
  return { results: summaries(samples), skipped }
}

/** Measures one row for the given contenders. */
export const measure = (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<Measured> => {
  const able = ids.filter((id) => {
    const { rows, without = [] }: Entry = contenders[id]
    return (rows === undefined || rows.includes(row)) && !without.includes(row)
  })
  return rows[row].fresh ? measureFresh(row, able, settings) : measureWarm(row, able, settings)
}

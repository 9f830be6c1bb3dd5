/** Interleaved rounds: each contender gives one sample per round, in its own process, one at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { type ContenderId, contenders } from "./Contender.ts"
import type { Report, Start } from "./child.ts"
import { type RowId, rows, type Settings } from "./Row.ts"
import { type Summary, summarise } from "./Statistics.ts"

/** The summaries of one row, by contender. */
export type RowResult = Partial<Record<ContenderId, Summary>>

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

const open = async (start: Start): Promise<Child | undefined> => {
  const child = fork(new URL("./child.js", import.meta.url), {
    // What a contender prints must not mix with the JSON on standard output.
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
    return undefined
  }
  const sample = async () => {
    child.send("sample")
    const report = await reply(child, start)
    return report.type === "sample" ? report.value : Number.NaN
  }
  return { sample, end }
}

/** The contenders in the order of a round: each is first as often as any other. */
const rotate = <A>(items: ReadonlyArray<A>, by: number): ReadonlyArray<A> => {
  const offset = by % Math.max(1, items.length)
  return [...items.slice(offset), ...items.slice(0, offset)]
}

const summaries = (samples: ReadonlyMap<ContenderId, ReadonlyArray<number>>): RowResult =>
  Object.fromEntries([...samples].map(([id, values]) => [id, summarise(values)]))

/** One process per contender for all rounds. */
const measureWarm = async (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<RowResult> => {
  const children = new Map<ContenderId, Child>()
  const samples = new Map<ContenderId, Array<number>>()
  try {
    for (const contender of ids) {
      const child = await open({ contender, row, settings })
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
  return summaries(samples)
}

/** A fresh process for each sample. */
const measureFresh = async (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<RowResult> => {
  const samples = new Map<ContenderId, Array<number>>()
  const rounds = row === "firstRun" ? settings.rounds : settings.memoryRounds
  for (let round = 0; round < rounds; round++) {
    for (const contender of rotate(ids, round)) {
      const child = await open({ contender, row, settings })
      if (child === undefined) continue
      const values = samples.get(contender) ?? []
      samples.set(contender, [...values, await child.sample()])
      await child.end()
    }
  }
  return summaries(samples)
}

/** Measures one row for the given contenders. */
export const measure = (row: RowId, ids: ReadonlyArray<ContenderId>, settings: Settings): Promise<RowResult> =>
  rows[row].fresh ? measureFresh(row, ids, settings) : measureWarm(row, ids, settings)

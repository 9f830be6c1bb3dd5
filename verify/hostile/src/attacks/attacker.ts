/** Sends an attack in a loop from a separate thread until its time is up, and reports the number of each result. */
import { parentPort, workerData } from "node:worker_threads"
import * as Attack from "./Attack.ts"

/** The input of the thread. */
export interface Work {
  readonly target: Attack.Target
  readonly name: string
  readonly wire: Attack.Wire
  readonly millis: number
  /** The largest number of rounds of each lane. */
  readonly rounds: number
}

const { millis, name, rounds, target, wire }: Work = workerData
const attack = Attack.all.find((attack) => attack.name === name)!
const send = attack.prepare(target, wire)
const counts: Record<string, number> = {}
parentPort?.postMessage("ready")
const end = performance.now() + millis

const lane = async () => {
  for (let round = 0; round < rounds && (round === 0 || performance.now() < end); round++) {
    for (const result of await send()) counts[result] = (counts[result] ?? 0) + 1
  }
}

await Promise.all(Array.from({ length: attack.lanes ?? 4 }, lane))
parentPort?.postMessage(counts)

/** Polls a batch until it has ended, and passes on the outcomes of its requests. */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Ended, Outcome, Vendor } from "../VendorBatch.ts"
import { Failure, fromThrown } from "../VendorError.ts"

/** A call that waits for a request. `found` resolves to `undefined` if the batch does not contain the request. */
export interface Waiting {
  readonly outcome: PromiseWithResolvers<Outcome>
  readonly found: PromiseWithResolvers<Outcome | undefined>
}

/** Maximum time to poll, in milliseconds. Vendors give up after a day. */
const longestMillis = 26 * 60 * 60 * 1000

/** Factor by which the polling interval grows. */
const growth = 1.5
const mostGrown = 12

/** Maximum number of consecutive attempts to read unreadable results. */
const mostUnreadable = 3

const passing: ReadonlySet<string> = new Set(["Network", "Timeout", "Overloaded", "RateLimited"])

const overdue: WorkerErrorReason = {
  _tag: "Timeout",
  detail: "the batch did not finish within 24 hours",
  afterMillis: longestMillis
}

/** Returns the prefix shared by all ids of one collector, up to the first hyphen. */
const collectorOf = (id: string): string => id.split("-", 1)[0] ?? id

const sleep = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", wake)
      resolve()
    }
    const timer = setTimeout(wake, millis)
    signal.addEventListener("abort", wake)
  })

/** A batch at the vendor, polled as long as a call waits for it. */
export class Watch {
  readonly #vendor: Vendor
  readonly #batch: string
  readonly #pollMillis: number
  readonly #onEnd: () => void
  readonly #controller = new AbortController()
  readonly #waiting = new Map<string, Set<Waiting>>()
  #isRunning = false
  /** Whether the vendor has finished the batch. */
  #isEnded = false
  /** Number of consecutive failures. */
  #failures = 0

  constructor(vendor: Vendor, batch: string, pollMillis: number, onEnd: () => void) {
    this.#vendor = vendor
    this.#batch = batch
    this.#pollMillis = pollMillis
    this.#onEnd = onEnd
  }

  /** Waits for a request. */
  add(id: string, waiting: Waiting) {
    const others = this.#waiting.get(id)
    if (others === undefined) this.#waiting.set(id, new Set([waiting]))
    else others.add(waiting)
    if (this.#isRunning) return
    this.#isRunning = true
    this.#run().catch((error) => this.#fail(error))
  }

  /** Stops waiting for a request. Returns whether it was the last one of an active batch. */
  remove(id: string, waiting: Waiting): boolean {
    const others = this.#waiting.get(id)
    if (others?.delete(waiting) !== true || others.size > 0) return false
    this.#waiting.delete(id)
    if (this.#waiting.size > 0) return false
    this.#end()
    return !this.#isEnded
  }

  #end() {
    this.#onEnd()
    this.#controller.abort()
  }

  #fail(error: unknown) {
    for (const others of this.#waiting.values()) {
      for (const { found, outcome } of others) {
        outcome.reject(error)
        found.reject(error)
      }
    }
    this.#waiting.clear()
    this.#end()
  }

  async #run() {
    const { signal } = this.#controller
    const until = Date.now() + longestMillis
    let pause = this.#pollMillis
    while (this.#waiting.size > 0) {
      // Also before the first poll, so that calls that arrive in the meantime share one read of the results.
      await sleep(pause, signal)
      if (signal.aborted) return
      const isEnded = await this.#look()
      if (isEnded) pause = this.#pollMillis
      else if (Date.now() > until) throw new Failure(overdue)
      else pause = Math.min(pause * growth, this.#pollMillis * mostGrown)
    }
    this.#end()
  }

  /** Polls once, and reads the results if they are available. */
  async #look(): Promise<boolean> {
    const { signal } = this.#controller
    try {
      const ended = await this.#vendor.look(this.#batch, signal)
      this.#isEnded = ended !== undefined
      if (ended !== undefined) await this.#read(ended)
      this.#failures = 0
      return ended !== undefined
    } catch (error) {
      if (signal.aborted) return false
      const { _tag } = fromThrown(error, this.#vendor.reason, true)
      this.#failures += 1
      const isWorthIt = passing.has(_tag) || (_tag === "Malformed" && this.#failures < mostUnreadable)
      if (!isWorthIt) throw error
      return false
    }
  }

  /** Passes the results to all calls that are waiting when reading starts. */
  async #read({ missing, outcomes }: Ended) {
    const asking = new Map(this.#waiting)
    const collectors = new Set([...asking.keys()].map(collectorOf))
    let isFirst = true
    for await (const outcome of outcomes(this.#controller.signal)) {
      // Another sender's batch that arrived at the same time.
      if (isFirst && !collectors.has(collectorOf(outcome.id))) break
      isFirst = false
      this.#settle(outcome.id, outcome, outcome)
    }
    for (const [id, others] of asking) {
      if (this.#waiting.get(id) === others) this.#settle(id, { id, failure: missing }, undefined)
    }
  }

  #settle(id: string, outcome: Outcome, found: Outcome | undefined) {
    const others = this.#waiting.get(id)
    if (others === undefined) return
    this.#waiting.delete(id)
    for (const waiting of others) {
      waiting.outcome.resolve(outcome)
      waiting.found.resolve(found)
    }
  }
}

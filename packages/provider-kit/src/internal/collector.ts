/** Collects calls into batches, sends the batches, and passes on the outcomes. */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Listed, Outcome, Settings, Vendor } from "../VendorBatch.ts"
import { Failure, fromThrown } from "../VendorError.ts"
import { type Waiting, Watch } from "./watch.ts"

/** A pending call. */
export interface Member {
  /** Id of the batch that contains the call, once the vendor has accepted it. */
  readonly batch: Promise<string>
  readonly outcome: Promise<Outcome>
  /** Outcome of the call in this batch. `undefined` if the batch does not contain the call. */
  readonly found: Promise<Outcome | undefined>
  /** Stops waiting for the call. */
  readonly leave: () => Promise<void>
}

/** A call in a batch that has not been sent yet. */
interface Joined extends Waiting {
  readonly id: string
  /** The call's line in the batch file, until it is sent. */
  line: Uint8Array<ArrayBuffer>
  readonly batch: PromiseWithResolvers<string>
  leave: () => Promise<void>
}

/** The batch that new calls join. */
interface Open {
  readonly members: Map<string, Joined>
  readonly controller: AbortController
  bytes: number
  sending?: Promise<void> | undefined
  timer?: ReturnType<typeof setTimeout> | undefined
}

const encoder = new TextEncoder()
const nothing = new Uint8Array()

/** Maximum time that an interrupted call waits for its batch to be cancelled, in milliseconds. */
const longestFarewell = 10_000

/**
 * Allowance for differences between the vendor's and this machine's clocks and for the time needed to send a batch, in
 * milliseconds.
 */
const skew = 60_000
const longestSending = 900_000

/** Reasons after which it is unknown whether the vendor has accepted a batch. */
const uncertain: ReadonlySet<string> = new Set(["Network", "Timeout", "Overloaded", "Malformed"])

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`

/** Creates a promise whose rejection does not have to be handled. */
const promise = <A>(): PromiseWithResolvers<A> => {
  const resolvers = Promise.withResolvers<A>()
  resolvers.promise.catch(() => undefined)
  return resolvers
}

const waiting = (): Waiting => ({ outcome: promise(), found: promise() })

const settleFailed = ({ found, outcome }: Waiting, error: unknown) => {
  outcome.reject(error)
  found.reject(error)
}

/** Collects the calls of one worker. */
export class Collector {
  /** Prefix of the names of its batches, and of the ids of its calls. */
  readonly name = crypto.randomUUID().replaceAll("-", "").slice(0, 16)
  readonly #vendor: Vendor
  readonly #windowMillis: number
  readonly #maxRequests: number
  readonly #pollMillis: number
  readonly #watches = new Map<string, Watch>()
  readonly #listed = new Map<string, Promise<ReadonlyArray<Listed>>>()
  #open: Open | undefined
  #calls = 0
  #batches = 0

  constructor(
    vendor: Vendor,
    { maxRequests = vendor.maxRequests, pollMillis = 10_000, windowMillis = 5_000 }: Settings
  ) {
    this.#vendor = vendor
    this.#windowMillis = windowMillis
    this.#maxRequests = Math.min(maxRequests, vendor.maxRequests)
    this.#pollMillis = pollMillis
  }

  /** The number of the next call. */
  number(): number {
    return this.#calls++
  }

  /** Adds a call to the next batch. */
  join(id: string, text: string): Member {
    const line = encoder.encode(text)
    const { maxBytes } = this.#vendor
    const joined: Joined = { id, line, batch: promise(), ...waiting(), leave: async () => undefined }
    if (line.length + 1 > maxBytes) {
      const detail = `the request has ${megabytes(line.length)}, but a batch accepts at most ${megabytes(maxBytes)}; call it without batch`
      joined.batch.reject(new Failure({ _tag: "InvalidRequest", detail }))
      return memberOf(joined)
    }
    if (this.#open !== undefined && this.#open.bytes + line.length + 1 > maxBytes) this.#close(this.#open)
    const open = this.#open ?? this.#begin()
    open.members.set(id, joined)
    open.bytes += line.length + 1
    joined.leave = () => this.#leave(open, joined)
    if (open.members.size >= this.#maxRequests) this.#close(open)
    return memberOf(joined)
  }

  /** Waits for a call in a batch that was already sent to the vendor. */
  follow(batch: string, id: string): Member {
    const own = waiting()
    const watch = this.#watch(batch)
    watch.add(id, own)
    return {
      batch: Promise.resolve(batch),
      outcome: own.outcome.promise,
      found: own.found.promise,
      leave: async () => {
        watch.remove(id, own)
      }
    }
  }

  /**
   * Returns the batches that may contain a call that was about to be sent at the given time. Calls within one minute
   * share one request to the vendor.
   */
  async find(id: string, at: number): Promise<ReadonlyArray<string>> {
    const minute = Math.floor(at / 60_000) * 60_000
    const collector = id.slice(0, this.name.length)
    const key = `${collector} ${minute}`
    const within = { from: minute - skew, to: minute + 2 * skew + this.#windowMillis + longestSending }
    const known = this.#listed.get(key)
    const listed = known ?? this.#vendor.find(collector, within, AbortSignal.timeout(longestSending))
    this.#listed.set(key, listed)
    try {
      return (await listed).map(({ batch }) => batch)
    } catch (error) {
      this.#listed.delete(key)
      throw error
    }
  }

  #begin(): Open {
    const open: Open = { members: new Map(), controller: new AbortController(), bytes: 0 }
    open.timer = setTimeout(() => this.#close(open), this.#windowMillis)
    this.#open = open
    return open
  }

  #close(open: Open) {
    clearTimeout(open.timer)
    if (this.#open === open) this.#open = undefined
    if (open.members.size > 0) open.sending = this.#send(open).catch((error) => this.#fail(open, error))
  }

  #fail({ members }: Open, error: unknown) {
    for (const member of members.values()) {
      member.batch.reject(error)
      settleFailed(member, error)
    }
    members.clear()
  }

  async #send(open: Open) {
    const { controller, members } = open
    const name = `${this.name}-${this.#batches++}`
    const lines = [...members.values()].map((member) => {
      const { line } = member
      member.line = nothing
      return line
    })
    const sentAt = Date.now()
    const batch = await this.#vendor
      .send(name, lines, controller.signal)
      .catch((error: unknown) => this.#foundAfter(name, sentAt, error))
    if (members.size === 0) return this.#cancel(batch)
    const watch = this.#watch(batch)
    for (const [id, member] of members) {
      watch.add(id, member)
      member.leave = async () => {
        if (watch.remove(id, member)) await this.#cancel(batch)
      }
      member.batch.resolve(batch)
    }
    members.clear()
  }

  /** If it is unknown whether the vendor has accepted a batch, searches for it by name. */
  async #foundAfter(name: string, sentAt: number, error: unknown): Promise<string> {
    const reason: WorkerErrorReason = fromThrown(error, this.#vendor.reason)
    if (!uncertain.has(reason._tag)) throw error
    const within = { from: sentAt - skew, to: Date.now() + skew }
    const listed = await this.#vendor.find(this.name, within, AbortSignal.timeout(longestFarewell)).catch(() => [])
    const found = listed.find((one) => one.name === name)
    if (found === undefined) throw error
    return found.batch
  }

  async #leave(open: Open, joined: Joined) {
    if (!open.members.delete(joined.id)) return
    open.bytes -= joined.line.length + 1
    if (open.members.size > 0) return
    // Unsent calls are dropped. A batch that is being sent is aborted, or cancelled once the vendor has it.
    if (this.#open === open) this.#close(open)
    open.controller.abort()
    await Promise.race([open.sending, new Promise((resolve) => setTimeout(resolve, longestFarewell).unref())])
  }

  async #cancel(batch: string) {
    await this.#vendor.cancel(batch, AbortSignal.timeout(longestFarewell)).catch(() => undefined)
  }

  #watch(batch: string): Watch {
    const known = this.#watches.get(batch)
    if (known !== undefined) return known
    const watch = new Watch(this.#vendor, batch, this.#pollMillis, () => this.#watches.delete(batch))
    this.#watches.set(batch, watch)
    return watch
  }
}

const memberOf = (joined: Joined): Member => ({
  batch: joined.batch.promise,
  outcome: joined.outcome.promise,
  found: joined.found.promise,
  leave: () => joined.leave()
})

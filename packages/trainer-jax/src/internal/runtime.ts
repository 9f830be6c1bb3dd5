/**
 * jax-js in this process: loaded when the first engine is made, with threads where they are asked for.
 *
 * Its WebAssembly backend runs kernels on the threads that a browser calls `Worker`. Node has no such global, so one is
 * lent to it. The number of threads belongs to the process: the first engine decides.
 */
import { resolveObjectURL } from "node:buffer"
import os from "node:os"
import { Worker as Thread } from "node:worker_threads"
import type { Library } from "./network.ts"

/** What a thread of Node lacks to run the code of a browser's worker. */
const prelude = `
const { parentPort } = require("node:worker_threads")
globalThis.self = globalThis
globalThis.postMessage = (message) => parentPort.postMessage(message)
parentPort.on("message", (data) => self.onmessage({ data }))
`

/** A browser's `Worker`, as far as jax-js uses it. Threads do not keep the process alive. */
class BrowserWorker {
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  onerror: ((error: Error) => void) | null = null
  private thread: Thread | undefined
  private readonly waiting: Array<unknown> = []

  constructor(address: string) {
    this.start(address).catch((cause: unknown) => this.onerror?.(cause instanceof Error ? cause : Error(String(cause))))
  }

  postMessage(message: unknown): void {
    if (this.thread === undefined) this.waiting.push(message)
    else this.thread.postMessage(message)
  }

  private async start(address: string): Promise<void> {
    const source = await resolveObjectURL(address)?.text()
    const thread = new Thread(`${prelude}${source}`, { eval: true })
    thread.on("message", (data) => this.onmessage?.({ data }))
    thread.on("error", (error) => this.onerror?.(error))
    thread.unref()
    for (const message of this.waiting) thread.postMessage(message)
    this.thread = thread
  }
}

/** The threads that are used when none are asked for: one stays free for whatever else runs. */
const defaultThreads = (): number => Math.min(4, Math.max(1, os.availableParallelism() - 1))

/** The library, and how many threads it runs on. */
export interface Runtime {
  readonly jax: Library
  readonly threads: number
}

/**
 * Lends threads to jax-js. It asks for `Worker` as long as it runs, but for the number of processors only when it is
 * loaded.
 */
const lendThreads = (threads: number): (() => void) => {
  if (threads === 1) return () => {}
  const processors = Object.getOwnPropertyDescriptor(navigator, "hardwareConcurrency")
  Object.defineProperty(globalThis, "Worker", { value: BrowserWorker, configurable: true, writable: true })
  Object.defineProperty(navigator, "hardwareConcurrency", { value: threads, configurable: true })
  return () => {
    Reflect.deleteProperty(navigator, "hardwareConcurrency")
    if (processors !== undefined) Object.defineProperty(navigator, "hardwareConcurrency", processors)
  }
}

const start = async (threads: number): Promise<Runtime> => {
  const restore = lendThreads(threads)
  try {
    const jax = await import("@jax-js/jax")
    const devices = await jax.init("wasm")
    if (!devices.includes("wasm")) throw new Error("This JavaScript engine has no WebAssembly.")
    jax.defaultDevice("wasm")
    return { jax, threads }
  } finally {
    restore()
  }
}

let started: Promise<Runtime> | undefined

/** jax-js, loaded once for this process: another number of threads is refused then. */
export const runtime = async (threads: number | undefined): Promise<Runtime> => {
  if (started === undefined) {
    started = start(threads ?? defaultThreads())
    started.catch(() => {
      started = undefined
    })
  }
  const found = await started
  if (threads === undefined || threads === found.threads) return found
  throw new Error(`it runs with ${found.threads} threads in this process, and ${threads} are asked for.`)
}

/** A thread that computes: it says that it is there, and then answers each message with what came of it. */
import { getHeapStatistics } from "node:v8"
import { parentPort } from "node:worker_threads"
import * as Library from "./library.ts"
import * as ThreadTask from "./threadTask.ts"

/** A thread's reply. `heldBytes` is the memory that jax-js has allocated; jax-js never frees any. */
export type Reply = { readonly value: unknown; readonly heldBytes: number } | { readonly problem: string }

const send = (reply: Reply, transferred: ReadonlyArray<ArrayBuffer> = []) =>
  parentPort!.postMessage(reply, [...transferred])

const succeed = (value: unknown, transferred?: ReadonlyArray<ArrayBuffer>) =>
  send({ value, heldBytes: getHeapStatistics().external_memory }, transferred)

const fail = (cause: unknown) => send({ problem: cause instanceof Error ? cause.message : String(cause) })

const start = async () => {
  const memory = ThreadTask.make(await Library.load())
  parentPort!.on("message", (message: ThreadTask.Message) =>
    ThreadTask.run(memory, message).then(
      (value) => succeed(value, "gradient" in value ? [value.gradient.buffer] : []),
      fail
    )
  )
}

start().then(() => succeed(undefined), fail)

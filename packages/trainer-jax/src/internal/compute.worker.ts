/** The entry point of a compute thread: reports that it is ready, then answers each message with its result. */
import { getHeapStatistics } from "node:v8"
import { parentPort } from "node:worker_threads"
import * as Library from "./library.ts"
import * as ThreadTask from "./threadTask.ts"

/** A reply from a thread. `heldBytes` is the memory allocated by jax-js, which never frees any. */
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

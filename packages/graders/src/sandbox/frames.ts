/** Messages of a sandbox's process: a length of four bytes, then JSON. Both sides read and write them. */

/** What the process has to run. */
export interface Command {
  readonly code: string
  readonly prelude: string
  readonly input: string
  readonly order: string
  readonly files: Readonly<Record<string, string>>
  readonly memoryMegabytes: number
  readonly outputBytes: number
}

/** What the process answers: once that it is ready, then how each command ended. */
export type Reply =
  | { readonly type: "ready" }
  | {
      readonly type: "finished"
      readonly stdout: string
      readonly stderr: string
      readonly exitCode: number
      /** Whether the process can take another command of the same program. */
      readonly isReusable: boolean
      /** Whether an allocation failed because of the memory limit. */
      readonly isStarved: boolean
    }
  | { readonly type: "output-too-large" }
  | { readonly type: "crashed"; readonly detail: string; readonly isStarved: boolean }

/** Which kind of value each field of a reply holds. */
const shapes: Readonly<Record<string, Readonly<Record<string, "string" | "boolean" | "number">>>> = {
  ready: {},
  "output-too-large": {},
  finished: { stdout: "string", stderr: "string", exitCode: "number", isReusable: "boolean", isStarved: "boolean" },
  crashed: { detail: "string", isStarved: "boolean" }
}

/** The reply in a message; `undefined` when it is something else, which a program may have written. */
export const readReply = (body: string): Reply | undefined => {
  try {
    const value: Readonly<Record<string, unknown>> = JSON.parse(body)
    const { type } = value
    const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined
    const fits = shape !== undefined && Object.entries(shape).every(([name, kind]) => typeof value[name] === kind)
    return fits ? (value as unknown as Reply) : undefined
  } catch {
    return undefined
  }
}

/** The bytes of a message. */
export const encode = (message: Command | Reply): Buffer => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.byteLength)
  return Buffer.concat([head, body])
}

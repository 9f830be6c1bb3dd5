/** Messages between a sandbox and its process: a length of four bytes followed by JSON. Used on both sides. */

/** A command to run a program. */
export interface Command {
  readonly code: string
  readonly prelude: string
  readonly input: string
  readonly order: string
  readonly files: Readonly<Record<string, string>>
  readonly memoryMegabytes: number
  readonly outputBytes: number
}

/** A reply from the process: first that it is ready, then the result of each command. */
export type Reply =
  | { readonly type: "ready" }
  | {
      readonly type: "finished"
      readonly stdout: string
      readonly stderr: string
      readonly exitCode: number
      /** Whether the process can run another command of the same program. */
      readonly isReusable: boolean
      /** Whether an allocation failed because of the memory limit. */
      readonly isStarved: boolean
    }
  | { readonly type: "output-too-large" }
  | { readonly type: "crashed"; readonly detail: string; readonly isStarved: boolean }

/** Types of the fields of each reply, for validation. */
const shapes: Readonly<Record<string, Readonly<Record<string, "string" | "boolean" | "number">>>> = {
  ready: {},
  "output-too-large": {},
  finished: { stdout: "string", stderr: "string", exitCode: "number", isReusable: "boolean", isStarved: "boolean" },
  crashed: { detail: "string", isStarved: "boolean" }
}

/** Parses a reply. Returns `undefined` if it is invalid, because a program may have written it. */
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

/** Encodes a message as bytes. */
export const encode = (message: Command | Reply): Buffer => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.byteLength)
  return Buffer.concat([head, body])
}

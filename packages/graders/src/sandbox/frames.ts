/** Messages of a sandbox's process: a length of four bytes, then JSON. Both sides read and write them. */

/** What the process has to run. */
export interface Command {
  readonly code: string
  readonly prelude: string
  readonly input: string
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
      /** Whether it can take another command of the same program. */
      readonly isReusable: boolean
      /** Whether the limit refused it memory. */
      readonly isStarved: boolean
    }
  | { readonly type: "output-too-large" }
  | { readonly type: "crashed"; readonly detail: string; readonly isStarved: boolean }

/** The bytes of a message. */
export const encode = (message: Command | Reply): Buffer => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.byteLength)
  return Buffer.concat([head, body])
}

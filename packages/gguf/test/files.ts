/** Files that tests make: folders that go when the test ends, and safetensors. */

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Effect from "effect/Effect"

/** A folder of its own. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-gguf-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** A place in a folder of its own. */
export const temporaryFile = (name: string) => Effect.map(temporaryFolder, (folder) => path.join(folder, name))

/** A tensor as bytes. */
export interface Raw {
  readonly dtype: string
  readonly shape: ReadonlyArray<number>
  readonly bytes: Uint8Array
}

export const raw = (shape: ReadonlyArray<number>, data: Float32Array): Raw => ({
  dtype: "F32",
  shape,
  bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
})

/** A safetensors file; `change` may spoil its header. */
export const safetensors = (
  tensors: Readonly<Record<string, Raw>>,
  change: (header: Record<string, unknown>) => unknown = (header) => header
): Buffer => {
  let end = 0
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } }
  for (const [name, { bytes, dtype, shape }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] }
    end += bytes.length
  }
  const json = Buffer.from(JSON.stringify(change(header)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([length, json, ...Object.values(tensors).map(({ bytes }) => bytes)])
}

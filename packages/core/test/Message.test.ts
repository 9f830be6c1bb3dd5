import * as Message from "@divisi/core/Message"
import { expect, it } from "vitest"

const partOf = (data: Uint8Array): unknown => {
  const [part] = Message.content([{ type: "image", data, mediaType: "image/png" }])
  return part
}

it("encodes bytes of any length as base64", () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 89 + length) % 256)
    const data = Buffer.from(bytes).toString("base64")
    expect(partOf(bytes)).toEqual({ type: "image", data, mediaType: "image/png" })
  }
})

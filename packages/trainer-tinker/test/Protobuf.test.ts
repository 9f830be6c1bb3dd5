import { describe, expect, it } from "vitest"
import * as Protobuf from "../src/internal/protobuf.ts"

describe("the protobuf form", () => {
  it("writes the bytes that a server of the protocol was seen to accept", () => {
    const bytes = Protobuf.batch(
      {
        loss: "cross_entropy",
        data: [{ chunks: [[5, 6, 7]], inputs: { target_tokens: [6, 7, 8], weights: [0, 1, 1] } }]
      },
      { model: "model_ab12", sequence: 1, forwardOnly: false }
    )
    expect(Buffer.from(bytes).toString("hex")).toBe(
      "0a0a6d6f64656c5f6162313210011a640a100a0e0a0c05000000060000000700000012300a0d7461726765745f746f6b656e73121f0a180600000000000000070000000000000008000000000000001802220103121e0a077765696768747312130a0c000000000000803f0000803f1801220103220d63726f73735f656e74726f7079"
    )
  })
})

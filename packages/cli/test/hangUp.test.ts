import { assert, it } from "@effect/vitest"
import * as HangUp from "../src/invocation/HangUp.ts"

it("SIGHUP reaches the listener, except on Windows, where it means that the console was closed", () => {
  assert.isFalse(HangUp.isHeard("linux"))
  let count = 0
  HangUp.hear(() => {
    count += 1
  })
  assert.isTrue(HangUp.isHeard("linux"))
  assert.isFalse(HangUp.isHeard("win32"))
  assert.strictEqual(count, 1)
})

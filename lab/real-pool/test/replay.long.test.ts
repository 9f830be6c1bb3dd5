import { expect, it } from "vitest"
import * as Page from "../src/Page.ts"
import * as Records from "../src/Records.ts"
import * as Replay from "../src/Replay.ts"

// All choosers are trained on all records.
it("the replay gives the first sentence and the figures of the page", { timeout: 600_000 }, async () => {
  const records = Records.read()
  expect(Page.content(await Replay.lines(records), records)).toEqual(Page.read())
})

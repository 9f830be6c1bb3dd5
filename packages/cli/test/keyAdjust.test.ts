import path from "node:path"
import { describe, it } from "vitest"
import { adjusts } from "./adjustedKeys.ts"
import { inFolder } from "./process.ts"

describe("divisi key adjust", () => {
  it("corrects accounts in files", () =>
    inFolder((folder) =>
      adjusts({
        DIVISI_KEYS: path.join(folder, "keys.json"),
        DIVISI_ACCOUNTS: path.join(folder, "accounts.sqlite"),
        DIVISI_RUNS: path.join(folder, "runs.sqlite"),
        DIVISI_RESPONSES: path.join(folder, "responses.sqlite"),
        DIVISI_OUTCOMES: "none"
      })
    ))
})

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { DiskAccounts, DiskJournal } from "@divisi/files"
import { AccountsContract, JournalContract } from "@divisi/testkit/journals"
import { afterAll, describe, it } from "vitest"

const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-journals-"))
afterAll(() => fs.rmSync(root, { recursive: true }))
let files = 0

// These tests are here and not in the tested packages, because the testkit depends on those packages.
JournalContract.contract({
  name: "The journal on disk",
  fresh: () => {
    const file = path.join(root, `${files++}`, "runs.sqlite")
    return DiskJournal.make({ file })
  },
  describe,
  it
})

AccountsContract.contract({
  name: "Accounts on disk",
  fresh: () => {
    const file = path.join(root, `${files++}`, "accounts.sqlite")
    return DiskAccounts.make({ file })
  },
  describe,
  it
})

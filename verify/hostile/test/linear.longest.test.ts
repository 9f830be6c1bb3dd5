/** The short form of `pnpm linear`, in a separate process so that other tests do not affect the times. */
import { spawnSync } from "node:child_process"
import path from "node:path"
import { expect, it } from "vitest"

const command = path.join(import.meta.dirname, "../src/linear.ts")

it("every public reader takes time linear in a hostile text", () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--conditions=@divisi/source", command, "--short"], {
    encoding: "utf8"
  })
  expect(stderr).toBe("")
  expect(stdout).toMatch(/ 0 failures\n$/)
  expect(status).toBe(0)
})

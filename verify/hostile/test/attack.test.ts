/** The short form of `pnpm attack`, which checks results and answers but no times. */
import { spawnSync } from "node:child_process"
import path from "node:path"
import { assert, it } from "vitest"
import * as Attack from "../src/attacks/Attack.ts"

const command = path.join(import.meta.dirname, "../src/attack.ts")

interface Row {
  readonly attack: string
  readonly statuses: Readonly<Record<string, number>>
  readonly requests: number
  readonly problems: ReadonlyArray<string>
}

it("answers a client's small requests while another client attacks, and refuses what is beyond a limit", () => {
  const options = ["--conditions=@divisi/source", command, "--short", "--json"]
  const { status, stderr, stdout } = spawnSync(process.execPath, options, { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  const rows: ReadonlyArray<Row> = JSON.parse(stdout)
  assert.deepStrictEqual(
    rows.map(({ attack }) => attack),
    Attack.all.map(({ name }) => name)
  )
  for (const { attack, problems, requests, statuses } of rows) {
    assert.deepStrictEqual(problems, [], attack)
    assert.isAtLeast(requests, 10, attack)
    assert.isNotEmpty(statuses, attack)
  }
  assert.strictEqual(status, 0)
}, 240_000)

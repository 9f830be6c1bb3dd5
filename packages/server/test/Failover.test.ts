import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const down = () => worker("a", { fail: { _tag: "Authentication", detail: "bad key" } })

const post = async (url: string, model: string) => {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hm" }] })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body })
  const { divisi } = (await response.json()) as { readonly divisi?: { readonly notices?: ReadonlyArray<string> } }
  return { status: response.status, notices: divisi?.notices ?? [], header: response.headers.get("x-divisi-notices") }
}

describe("a worker that fails permanently", () => {
  it("is replaced, and the response says by which", () => {
    const { policy: _, ...pool } = alone(down(), worker("b", said("Fine.")))
    return serving(pool, async ({ url }) => {
      const { header, notices, status } = await post(url, "divisi-fast")
      assert.deepStrictEqual([status, notices], [200, ["Step 0: a failed, and b took over."]])
      assert.include(header, "b took over")
    })
  })

  it("is not replaced where the client named it, whatever the settings say", () => {
    const options = { ...alone(down(), worker("b", said("Fine."))), settings: { reassign: "next" as const } }
    return serving(options, async ({ url }) => {
      assert.strictEqual((await post(url, "worker/a")).status, 502)
    })
  })

  it("is not replaced where the settings turn it off", () => {
    const { policy: _, ...pool } = alone(down(), worker("b", said("Fine.")))
    return serving({ ...pool, settings: { reassign: "never" } }, async ({ url }) => {
      assert.strictEqual((await post(url, "divisi-fast")).status, 502)
    })
  })
})

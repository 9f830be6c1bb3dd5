import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { tiny } from "./localModel.ts"
import { divisi, inFolder } from "./process.ts"

describe("local models", () => {
  it("come by name where there is a network and no key: a Conductor and a pool of three", () =>
    inFolder(async (folder) => {
      const bytes = fs.readFileSync(await tiny(folder))
      const asked = new Set<string>()
      // A hub that gives every name the same tiny model.
      const hub = http.createServer((request, response) => {
        asked.add(request.url ?? "")
        response.writeHead(200, { "content-length": bytes.length }).end(request.method === "HEAD" ? undefined : bytes)
      })
      await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve))
      try {
        const environment = {
          HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
          DIVISI_MODELS: path.join(folder, "models")
        }
        const limits = ["--max-steps", "1", "--max-output-tokens", "8", "--seed", "5", "--json"]
        const local = ["--policy", "llamacpp:default", "--pool", "llamacpp:default"]
        const { errors, output } = await divisi(["run", "What is 6 times 7?", ...local, ...limits], { environment })
        const [started] = output.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)))
        assert.deepStrictEqual(
          started.pool.map(({ id }: { readonly id: string }) => id),
          ["qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct", "smollm2-1.7b-instruct"].map(
            (id) => `llamacpp:${id}`
          ),
          errors
        )
        assert.include(output, '"type":"workflow-proposed"', output.slice(0, 2000))
        const conductor = "/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf"
        assert.isTrue(asked.has(conductor), [...asked].join(" "))
      } finally {
        hub.close()
      }
    }))
})

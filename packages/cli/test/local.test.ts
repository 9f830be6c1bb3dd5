import { assert, describe, it } from "vitest"
import { make } from "../src/view/DownloadProgress.ts"
import { tiny } from "./localModel.ts"
import { divisi, inFolder } from "./process.ts"

describe.concurrent("local models", () => {
  it("plan and answer by their path", () =>
    inFolder(async (folder) => {
      const file = await tiny(folder)
      const args = ["run", "What is 6 times 7?", "--policy", `llamacpp:${file}`, "--max-steps", "1", "--seed", "5"]
      const { code, errors, output } = await divisi([
        ...args,
        "--pool",
        `llamacpp:${file}`,
        "--max-output-tokens",
        "8",
        "--json"
      ])
      const events = output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      const planned = events.find(({ type }) => type === "workflow-proposed" || type === "round-started")
      assert.isDefined(planned, errors + output.slice(0, 300))
      assert.include([0, 1], code, errors)
      assert.include(output, `llamacpp:${file}`)
      assert.strictEqual(events.at(-1).type, "run-finished")
    }))

  it("are listed, inspected and removed", () =>
    inFolder(async (folder) => {
      const file = await tiny(folder)
      const environment = { DIVISI_MODELS: folder }
      const list = await divisi(["models", "list"], { environment })
      assert.match(list.output, /owner\/tiny\.gguf +\d+ KiB +here/)
      assert.match(list.output, /qwen2\.5-7b-instruct +4\.7 GB +can be downloaded +Apache-2\.0/)
      const inspected = JSON.parse((await divisi(["models", "inspect", file, "--json"], { environment })).output)
      assert.deepInclude(inspected, { architecture: "llama", quantisation: "F32", trainedContext: 8192, fits: true })
      assert.match((await divisi(["models", "inspect", file])).output, /main memory +[\d.]+ \w+ of [\d.]+ GiB free/)
      assert.match(
        (await divisi(["models", "remove", "owner/tiny.gguf"], { environment })).output,
        /^Removed owner\/tiny\.gguf/
      )
      const again = await divisi(["models", "remove", "owner/tiny.gguf"], { environment })
      assert.strictEqual(again.code, 2)
      assert.match(again.errors, /does not exist/)
    }))

  it("are refused by name with what to do", async () => {
    const { code, errors } = await divisi(["models", "download", "nonsense"])
    assert.strictEqual(code, 2)
    assert.match(errors, /"nonsense" is not a known model\. Use the path of a \.gguf file/)
  })

  it("have a doctor", async () => {
    const { output } = await divisi(["doctor", "--json"])
    const diagnosis = JSON.parse(output)
    assert.include(["processor", "cuda", "vulkan", "metal"], diagnosis.backend)
    assert.isAbove(diagnosis.mainMemory.total, 0)
    assert.match((await divisi(["doctor"])).output, /^backend +\w+: .+\ndevices +.+\ncores +\d+/)
  })
})

describe("the progress of a download", () => {
  it("is a line that is rewritten on a terminal, and a rare one elsewhere", () => {
    const written = (isTTY: boolean) => {
      const lines: Array<string> = []
      let time = 1_000_000
      const show = make({ isTTY, write: (text) => lines.push(text) }, () => time)
      for (const received of [1e9, 2e9, 4e9]) {
        show({ file: "/models/a.gguf", received, total: 4e9 })
        time += 500
      }
      return lines
    }
    assert.deepStrictEqual(written(true), [
      "\ra.gguf: 1.00 of 4.00 GB (25%)\u001b[K",
      "\ra.gguf: 2.00 of 4.00 GB (50%)\u001b[K",
      "\ra.gguf: 4.00 of 4.00 GB (100%)\u001b[K\n"
    ])
    assert.deepStrictEqual(written(false), ["a.gguf: 1.00 of 4.00 GB (25%)\n", "a.gguf: 4.00 of 4.00 GB (100%)\n"])
  })
})

/** The gym as an environment of the real verifiers, which is installed here, and that environment as a benchmark. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { samplesIn } from "./evaluated.ts"
import { divisi, inFolder } from "./process.ts"
import { hasPython, pythonWith } from "./python.ts"

const main = path.resolve(import.meta.dirname, "../src/main.ts")
const command = `${process.execPath} --conditions=@divisi/source ${main}`

const script = `
import asyncio, json, sys
import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.trace import TraceTask
from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

config = taskset_config_type("divisi-gym").model_validate({"id": "divisi-gym", "num_tasks": 4, "seed": 3})

async def reward(task, completion):
    trace = vf.Trace(
        task=TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
        agent=vf.AgentInfo(config=vf.AgentConfig(), name="test", trainable=False),
        nodes=[MessageNode(message=vf.AssistantMessage(content=completion), sampled=True)],
    )
    await task.score(trace, None)
    return trace.reward

plan = 'model_id = [0]\\nsubtasks = [""]\\naccess_list = [[]]'
for task in load_taskset(config):
    print(json.dumps({
        "prompt": task.data.prompt, "system": task.data.system_prompt,
        "unreadable": asyncio.run(reward(task, "I do not plan.")),
        "plan": asyncio.run(reward(task, plan)),
    }))
`

describe.skipIf(!hasPython)("verifiers", () => {
  it(
    "train on the gym, and are measured on",
    () =>
      inFolder(async (cwd) => {
        expect((await divisi(["gym", "verifiers", "package"], { cwd })).code).toBe(0)
        const again = await divisi(["gym", "verifiers", "package"], { cwd })
        expect(again).toMatchObject({ code: 2, errors: expect.stringContaining("package already exists") })
        const python = pythonWith(cwd, "verifiers")
        const environment = { DIVISI_COMMAND: command, PYTHONPATH: path.join(cwd, "package"), DIVISI_PYTHON: python }
        const output = execFileSync(python, ["-c", script], {
          cwd,
          encoding: "utf8",
          env: { ...process.env, ...environment }
        })
        const rows = output
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
        expect(rows).toHaveLength(4)
        for (const { plan, prompt, system, unreadable } of rows) {
          expect(prompt).toMatch(/^Question:/)
          expect(system).toContain("Model 15")
          expect(unreadable).toBe(0)
          expect([0.5, 1]).toContain(plan)
        }
        writeFileSync(
          path.join(cwd, "plans.mjs"),
          `export default { id: "plans", answer: async () => ${JSON.stringify("model_id = [0]\nsubtasks = ['']\naccess_list = [[]]")} }`
        )
        writeFileSync(
          path.join(cwd, "divisi.config.mjs"),
          `import { worker } from "@divisi/core/promise"\nimport plans from "./plans.mjs"\nexport default { pool: [worker(plans)] }`
        )
        const args = ["eval", "--benchmark", "verifiers:divisi-gym", "--limit", "3", "--policy", "single:plans"]
        const { code, errors } = await divisi(args, { cwd, environment })
        expect({ code, errors }).toMatchObject({ code: 0 })
        const samples = samplesIn(path.join(cwd, "evaluation"))
        expect(samples).toHaveLength(3)
        for (const { rung, score } of samples) {
          expect(rung).toBe("rewards")
          expect([0.5, 1]).toContain(score)
        }
      }),
    900_000
  )
})

import * as Conductor from "@divisi/core/Conductor"
import { selfReflection, worker } from "@divisi/core/promise"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { aiSdk, conductorModel } from "@divisi/providers-ai-sdk"
import { expect, it } from "vitest"

it("refuses options that it does not have, and values out of range", () => {
  const pool = WorkerPool.makeUnsafe([worker({ id: "a", answer: () => "42" })])
  const conductor = Conductor.make({ policy: selfReflection(), pool })
  expect(() => conductorModel(conductor, { modelID: "x" } as never)).toThrow('Did you mean "modelId"?')
  expect(() => conductorModel(conductor, { progress: "yes" } as never)).toThrow('"progress" must be true or false')
  const model = conductorModel(conductor)
  expect(() => aiSdk(model, { maxTokens: 3 } as never)).toThrow('option "maxTokens" does not exist')
  expect(() => aiSdk(model, { temperature: -1 })).toThrow('"temperature" must be a number from 0 to 100')
})

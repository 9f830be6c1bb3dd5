/** The process for one engine: starts it, and executes the runs whose ids it receives. */
import type * as Engine from "./Engine.ts"

const { atOnce, engine, url, vendor } = JSON.parse(process.argv[2] ?? "{}")

const call: Engine.Call = async (text) => {
  const response = await fetch(vendor, { method: "POST", body: text })
  return response.text()
}

const load: Readonly<Record<string, () => Promise<{ readonly start: Engine.Start }>>> = {
  divisi: () => import("./Divisi.ts"),
  dbos: () => import("./Dbos.ts"),
  effect: () => import("./Effect.ts")
}

const { start } = await load[engine]!()
const execute = await start({ url, call, atOnce })
process.on("message", async (runs: ReadonlyArray<string>) => {
  const [used, since] = [process.cpuUsage(), performance.now()]
  const answers = await execute(runs)
  const { system, user } = process.cpuUsage(used)
  const right = answers.filter((answer, at) => answer === `${runs[at]} is answered`).length
  process.send!({ right, seconds: (performance.now() - since) / 1000, cpuMillis: (user + system) / 1000 })
})
process.send!("ready")

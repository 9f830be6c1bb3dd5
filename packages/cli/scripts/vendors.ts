/**
 * Records a run with three vendors at once, on local servers that speak their wire formats, one of which refuses half of
 * its calls:
 *
 *     node --conditions=@divisi/source packages/cli/scripts/vendors.ts docs/recordings
 *
 * writes `vendors.json`, the transcript, and `vendors.txt`, what the command printed. Keys and ports are in neither.
 */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { divisi } from "../test/process.ts"
import * as Vendors from "../test/vendors.ts"

const [folder = "."] = process.argv.slice(2)

const vendors = await Vendors.start()
const file = path.resolve(folder, "vendors.json")
const args = ["run", Vendors.question, "--pool", Vendors.pool, "--policy", Vendors.policy, "--max-cost", "1"]
const { code, errors, output } = await divisi([...args, "--transcript", file], { environment: vendors.environment })
await vendors[Symbol.asyncDispose]()
const transcript = readFileSync(file, "utf8")
const isLeaking = [...Object.values(Vendors.keys), "127.0.0.1"].some((secret) =>
  `${output}${transcript}`.includes(secret)
)
if (code !== 0 || errors !== "" || isLeaking) throw new Error(`The run ended with ${code}. ${errors}`)
writeFileSync(file, `${JSON.stringify(JSON.parse(transcript), null, 2)}\n`)
writeFileSync(path.resolve(folder, "vendors.txt"), output)

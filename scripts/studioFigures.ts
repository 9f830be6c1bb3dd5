/** Measures the studio with large content: `pnpm studio:figures`. The results are in `docs/lab/studio.md`. */
import os from "node:os"
import path from "node:path"
import { chromium as driver } from "playwright-core"
import { buildApp } from "../packages/studio/scripts/build.ts"
import { large, measureAll } from "./checks/studioFigures.ts"
import { chromium } from "./setup/chromium.ts"
import { root } from "./setup/workspace.mjs"

const executablePath = chromium()
if (executablePath === undefined) throw new Error("There is no Chromium; set DIVISI_CHROMIUM to one.")

await buildApp(path.join(root, "packages/studio/dist/app"))
const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] })
const { figures, mostRows } = await measureAll(browser, large)
const line = (...cells: ReadonlyArray<string | number>) => process.stdout.write(`| ${cells.join(" | ")} |\n`)
process.stdout.write(`Chromium ${browser.version()}, Node ${process.version}, ${os.cpus().length} cores\n\n`)
line("page", "elements", "memory, MB", "before collection, MB", "CPU, ms", "longest task, ms", "tasks over 50 ms")
line("---", "---:", "---:", "---:", "---:", "---:", "---:")
for (const { cpuMillis, elements, longTasks, longestMillis, megabytes, name, peakMegabytes } of figures) {
  const round = (value: number, digits = 0) => value.toFixed(digits)
  line(name, elements, round(megabytes, 1), round(peakMegabytes, 1), round(cpuMillis), round(longestMillis), longTasks)
}
process.stdout.write(`\nMost rows drawn at once while scrolling: ${mostRows}\n`)
await browser.close()
process.exit(0)

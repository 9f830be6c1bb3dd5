/**
 * Measures the first contentful paint of studio pages, without a cache: `pnpm studio:paint ADDRESS...`. The results are
 * in `docs/lab/studio.md`.
 */
import os from "node:os"
import { type Browser, chromium as driver } from "playwright-core"
import { chromium } from "./setup/chromium.ts"

const executablePath = chromium()
if (executablePath === undefined) throw new Error("There is no Chromium; set DIVISI_CHROMIUM to one.")

const visits = 20

/** Times of the first paint and of the display of data, in milliseconds after the start of navigation. */
type Times = readonly [paint: number, drawn: number]

/** Opens an address several times in a page of a running browser, without a cache. */
const visit = async (browser: Browser, address: string): Promise<ReadonlyArray<Times>> => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
  const session = await page.context().newCDPSession(page)
  await session.send("Network.setCacheDisabled", { cacheDisabled: true })
  await page.addInitScript(() => {
    const watch = () => {
      if (document.querySelector("main :is(h1, .run-row)") === null) requestAnimationFrame(watch)
      else performance.mark("drawn")
    }
    requestAnimationFrame(watch)
  })
  const all: Array<Times> = []
  for (let count = 0; count <= visits; count++) {
    const url = new URL(address)
    url.search = `?visit=${count}`
    await page.goto(url.href)
    const times = await page.waitForFunction(() => {
      const paint = performance.getEntriesByName("first-contentful-paint")[0]
      const drawn = performance.getEntriesByName("drawn")[0]
      return paint === undefined || drawn === undefined ? undefined : ([paint.startTime, drawn.startTime] as const)
    })
    all.push((await times.jsonValue())!)
  }
  await page.close()
  // The first visit starts a browser process.
  return all.slice(1)
}

const line = (...cells: ReadonlyArray<string>) => process.stdout.write(`| ${cells.join(" | ")} |\n`)

/** Formats the minimum, median and maximum of several times. */
const spread = (times: ReadonlyArray<number>): string => {
  const sorted = [...times].sort((one, other) => one - other)
  return [sorted[0]!, sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!].map((time) => time.toFixed(0)).join(" / ")
}

const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] })
process.stdout.write(
  `Chromium ${browser.version()}, Node ${process.version}, ${os.cpus().length} cores, load ${os.loadavg()[0]!.toFixed(1)}\n\n`
)
line("page", "first paint, ms", "data drawn, ms")
line("---", "---:", "---:")
for (const address of process.argv.slice(2)) {
  const times = await visit(browser, address)
  line(address, spread(times.map(([paint]) => paint)), spread(times.map(([, drawn]) => drawn)))
}
await browser.close()

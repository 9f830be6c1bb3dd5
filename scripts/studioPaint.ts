/**
 * Measures the first contentful paint of studio pages, without a cache: `pnpm studio:paint ADDRESS...`. With `--new`
 * before the addresses, each visit starts a browser, as do those of two pages without scripts: a line of text, and the
 * displayed page with its style sheet. The results are in `docs/lab/studio.md`.
 */
import http from "node:http"
import type { AddressInfo } from "node:net"
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

const launch = () => driver.launch({ executablePath, args: ["--no-sandbox"] })

/** Returns the displayed page as one document without scripts. */
const still = async (address: string): Promise<string> => {
  const browser = await launch()
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(address)
  await page.locator("main :is(h1, .run-row)").first().waitFor()
  const [body, styles] = await page.evaluate(() => [
    document.body.innerHTML,
    [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText)).join("\n")
  ])
  await browser.close()
  return `<!doctype html><meta charset="utf-8"><title>Still</title><style>${styles}</style><body>${body}`
}

/** Opens an address in a new browser process. Returns the first contentful paint in milliseconds. */
const paintOf = async (address: string): Promise<number> => {
  const browser = await launch()
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
  await page.goto(address)
  const paint = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? false
  )
  const millis = Number(await paint.jsonValue())
  await browser.close()
  return millis
}

/** Number of new processes for each page. */
const processes = 12

/** Measures an address, its still copy and a line of text in turn, each in new browser processes. */
const compare = async (address: string): Promise<void> => {
  const pages = new Map([
    ["/line", "<!doctype html><title>Line</title><p>A line of text."],
    ["/still", await still(address)]
  ])
  const server = http.createServer(({ url = "" }, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(pages.get(url) ?? "")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const times = new Map([`${origin}/line`, `${origin}/still`, address].map((one) => [one, [] as Array<number>]))
  for (let round = 0; round < processes; round++) {
    for (const [one, all] of times) all.push(await paintOf(one))
  }
  const [text, copy, studio] = [...times.values()].map(spread)
  line(address, text!, copy!, studio!)
  server.close()
}

const isNew = process.argv[2] === "--new"
const addresses = process.argv.slice(isNew ? 3 : 2)
const browser = await launch()
process.stdout.write(
  `Chromium ${browser.version()}, Node ${process.version}, ${os.cpus().length} cores, load ${os.loadavg()[0]!.toFixed(1)}\n\n`
)
if (isNew) {
  await browser.close()
  line("first paint in a new process, ms", "line of text", "still copy", "studio")
  line("---", "---:", "---:", "---:")
  for (const address of addresses) await compare(address)
} else {
  line("page", "first paint, ms", "data drawn, ms")
  line("---", "---:", "---:")
  for (const address of addresses) {
    const times = await visit(browser, address)
    line(address, spread(times.map(([paint]) => paint)), spread(times.map(([, drawn]) => drawn)))
  }
  await browser.close()
}

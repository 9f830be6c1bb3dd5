/**
 * Measures the studio with large and hostile content in a real Chromium: how much it renders, how much memory it uses,
 * and how long it blocks the page. Time is the CPU time of the page's main thread, so that other processes do not
 * count.
 */
import type { Browser, CDPSession, Page } from "playwright-core"
import type { Sizes } from "../../packages/studio/test/fixtures/large.ts"
import { always, openPage, type Turn } from "./studioPages.ts"
import { serve } from "./studioServer.ts"

/** Sizes for `pnpm studio:figures`. */
export const large: Sizes = { rows: 10_000, characters: 10_000_000, deltas: 100_000, items: 1_000 }

/** Measurements for one page. */
export interface Figures {
  readonly name: string
  /** Number of elements in the document. */
  readonly elements: number
  /** JavaScript heap in MB, before and after garbage collection. */
  readonly peakMegabytes: number
  readonly megabytes: number
  /** CPU time of the main thread and of its longest tasks, in milliseconds. */
  readonly cpuMillis: number
  readonly longestMillis: number
  readonly longTasks: number
}

/** A task longer than this noticeably delays the response to a key or a click. */
const longMillis = 50

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

const evaluation = async <A>(session: CDPSession, method: "Runtime.getHeapUsage"): Promise<A> =>
  (await session.send(method)) as A

const usedMegabytes = async (session: CDPSession): Promise<number> => {
  const { usedSize } = await evaluation<{ readonly usedSize: number }>(session, "Runtime.getHeapUsage")
  return usedSize / 1e6
}

/** Returns the CPU times of the main threads' tasks, in milliseconds. */
export const tasksIn = (trace: Buffer): ReadonlyArray<number> => {
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { readonly traceEvents: ReadonlyArray<TraceEvent> }
  const threads = new Set(
    traceEvents.flatMap(({ args, name, pid, tid }) =>
      name === "thread_name" && args?.name === "CrRendererMain" ? [`${pid}/${tid}`] : []
    )
  )
  return traceEvents.flatMap(({ name, pid, tdur, tid }) =>
    name === "ThreadControllerImpl::RunTask" && tdur !== undefined && threads.has(`${pid}/${tid}`) ? [tdur / 1000] : []
  )
}

/** Opens an address, uses the page, and measures both. */
const measure = async (
  browser: Browser,
  name: string,
  address: string,
  use: (page: Page) => Promise<void>
): Promise<Figures> => {
  const page = await openPage(browser)
  try {
    page.setDefaultTimeout(120_000)
    await browser.startTracing(page, { categories: ["toplevel"] })
    await page.goto(address)
    await use(page)
    const tasks = tasksIn(await browser.stopTracing())
    const session = await page.context().newCDPSession(page)
    const peakMegabytes = await usedMegabytes(session)
    await session.send("HeapProfiler.collectGarbage")
    if (await page.evaluate(() => "broken" in globalThis)) throw new Error("a text was run as a script")
    return {
      name,
      elements: await page.evaluate(() => document.querySelectorAll("*").length),
      peakMegabytes,
      megabytes: await usedMegabytes(session),
      cpuMillis: tasks.reduce((sum, millis) => sum + millis, 0),
      longestMillis: Math.max(0, ...tasks),
      longTasks: tasks.filter((millis) => millis > longMillis).length
    }
  } finally {
    await page.context().close()
  }
}

/** Number of frames in which a list is scrolled from start to end. */
const frames = 300

/** Scrolls a list. Returns the maximum number of rows rendered at once. */
const scroll = (page: Page): Promise<number> =>
  page.evaluate(async (frames) => {
    const element = document.querySelector(".rows")!
    let most = 0
    for (let at = 0; at <= frames; at++) {
      element.scrollTop = ((element.scrollHeight - element.clientHeight) * at) / frames
      await new Promise((resolve) => requestAnimationFrame(resolve))
      most = Math.max(most, document.querySelectorAll(".run-row").length)
    }
    return most
  }, frames)

/** Measures each page whose turn it is. */
export const measureAll = async (
  browser: Browser,
  { characters, deltas, items, rows }: Sizes,
  turn: Turn = always
): Promise<{ readonly figures: ReadonlyArray<Figures>; readonly mostRows: number }> => {
  const server = await serve<{ readonly url: string }>("large", JSON.stringify({ characters, deltas, items, rows }))
  const list = server.printed.url
  const run = (id: string, query = "") => `${list}#/runs/${id}${query}`
  const all = new Intl.NumberFormat("en-US").format
  let mostRows = 0
  const pages: ReadonlyArray<readonly [name: string, address: string, use: (page: Page) => Promise<void>]> = [
    ["a run of one step", run("one"), (page) => page.getByText("on the critical path").first().waitFor()],
    [`${all(rows)} runs, read`, list, (page) => page.getByText(`${all(rows)} in all`).waitFor()],
    [
      `${all(rows)} runs, scrolled in ${frames} frames`,
      list,
      async (page) => {
        await page.getByText(`${all(rows)} in all`).waitFor()
        mostRows = await scroll(page)
      }
    ],
    [
      `${all(rows)} runs, searched`,
      list,
      async (page) => {
        await page.getByText(`${all(rows)} in all`).waitFor()
        await page.getByRole("searchbox").pressSequentially(`question ${rows - 1}:`)
        await page.getByText(`1 of ${all(rows)}`).waitFor()
      }
    ],
    [
      `an answer of ${all(characters)} characters`,
      run("long"),
      async (page) => {
        await page.getByRole("button", { name: "Show the whole answer" }).click()
        await page.getByRole("button", { name: "Show more" }).first().click()
      }
    ],
    [
      `an answer in ${all(deltas)} pieces, live`,
      run("live"),
      async (page) => {
        await page
          .getByText(`word ${deltas > 1_000 ? 1_000 : deltas - 1}`)
          .first()
          .waitFor()
        await page.getByText("Answered", { exact: true }).first().waitFor()
      }
    ],
    [
      `a map over ${all(items)} items`,
      run("map", "?step=0.1"),
      (page) =>
        page
          .getByText(`${all(items)} answered`)
          .first()
          .waitFor()
    ]
  ]
  try {
    const figures: Array<Figures> = []
    for (const [name, address, use] of pages.filter((_, index) => turn(index)))
      figures.push(await measure(browser, name, address, use))
    return { figures, mostRows }
  } finally {
    server.stop()
  }
}

/**
 * Checks the list of runs with 10,000 rows in a real browser: each filter alone and all together, by mouse and by
 * keyboard, the order, the selection while new runs arrive, and the time of the longest task of the page.
 */
import type { Browser, Page } from "playwright-core"
import { newestRow, rowOf } from "../../packages/studio/test/fixtures/rows.ts"
import { tasksIn } from "./studioFigures.ts"
import { serve } from "./studioServer.ts"

const rows = 10_000

type Row = ReturnType<typeof rowOf>

const all = Array.from({ length: rows }, (_, index) => rowOf(index))

const millisOf = ({ changed_at, started_at, state }: Row): number =>
  (state === "running" ? newestRow : changed_at) - started_at

/** The filters: the name of each, an option, and the rows that it leaves. */
const filters: ReadonlyArray<readonly [label: string, option: string, is: (row: Row) => boolean]> = [
  ["Policy", "policy-3", ({ policy }) => policy === "policy-3"],
  ["Worker", "worker-4", ({ workers }) => workers.includes("worker-4")],
  ["Ending", "Failed", ({ state }) => state === "failed"],
  ["Key", "key-1", ({ owner }) => owner === "key-1"],
  ["Started", "last 30 d", ({ started_at }) => newestRow - started_at <= 30 * 86_400_000],
  ["Cost", "over $0.01", ({ cost_usd }) => cost_usd >= 0.01],
  ["Duration", "over 10 s", (row) => millisOf(row) >= 10_000]
]

const chips: ReadonlyArray<readonly [name: string, states: ReadonlyArray<string>]> = [
  ["Needs you", ["waiting"]],
  ["No answer", ["failed", "budget", "refused", "interrupted", "stopped"]],
  ["Running", ["running"]]
]

const whole = new Intl.NumberFormat("en-US").format

/** Waits until the list has the given rows: their number, and the first of them. */
const expectRows = async (page: Page, expected: ReadonlyArray<Row>, how: string): Promise<void> => {
  const found = () =>
    page.evaluate(() => ({
      foot: document.querySelector(".foot span")?.textContent,
      first: document.querySelector(".rows .c-question a")?.textContent ?? ""
    }))
  const foot = `${whole(expected.length)} of ${whole(rows)}`
  const first = expected[0]?.question ?? ""
  for (const end = Date.now() + 10_000; ; await page.waitForTimeout(20)) {
    const now = await found()
    if (now.foot === foot && now.first === first) return
    if (Date.now() > end) throw new Error(`${how}: expected ${foot} from "${first}", found ${JSON.stringify(now)}`)
  }
}

const selectOf = (page: Page, label: string) => page.getByRole("combobox", { name: label, exact: true })

const clear = async (page: Page): Promise<void> => {
  for (const [label] of filters) await selectOf(page, label).selectOption({ index: 0 })
  await page.getByRole("button", { name: /^All \d/ }).click()
  await page.getByRole("searchbox").fill("")
  await expectRows(page, all, "without filters")
}

const byMouse = async (page: Page): Promise<void> => {
  for (const [label, option, is] of filters) {
    await selectOf(page, label).selectOption({ label: option })
    await expectRows(page, all.filter(is), `${label} by mouse`)
    await clear(page)
  }
  for (const [name, states] of chips) {
    await page.getByRole("button", { name: new RegExp(`^${name} \\d`) }).click()
    const left = all.filter(({ state }) => states.includes(state))
    await expectRows(page, left, `${name} by mouse`)
  }
  await clear(page)
}

/** Sets all filters and the search by keyboard alone, and reads the list after each. */
const byKeyboard = async (page: Page): Promise<void> => {
  const { keyboard } = page
  await keyboard.press("Escape")
  await keyboard.press("/")
  await keyboard.type("minutes")
  let left = all
  await expectRows(page, left, "the search by keyboard")
  const focused = () =>
    page.evaluate(() => {
      const { activeElement } = document
      const label = activeElement?.closest("label")
      // The frame around a control may be drawn by its label.
      const outlines = [activeElement, label].map((element) => element && getComputedStyle(element).outlineStyle)
      return {
        name: label?.querySelector(".unseen")?.textContent ?? activeElement?.textContent ?? "",
        isSeen: outlines.some((outline) => outline && outline !== "none")
      }
    })
  const tabTo = async (wanted: string): Promise<void> => {
    for (let count = 0; count < 30; count += 1) {
      await keyboard.press("Tab")
      const { isSeen, name } = await focused()
      if (!name.trim().startsWith(wanted)) continue
      if (!isSeen) throw new Error(`The focus on ${wanted} cannot be seen.`)
      return
    }
    throw new Error(`Tab does not reach ${wanted}.`)
  }
  for (const [label, option, is] of filters) {
    // These two leave nothing together with others.
    if (label === "Ending") continue
    await tabTo(label)
    const select = selectOf(page, label)
    for (let count = 0; count < 30; count += 1) {
      if ((await select.locator("option:checked").textContent()) === option) break
      await keyboard.press("ArrowDown")
    }
    left = left.filter(is)
    await expectRows(page, left, `filters up to ${label} by keyboard`)
  }
  if (left.length === 0) throw new Error("The filters of the check leave no row.")
  await selectOf(page, "Ending").focus()
  await keyboard.type("Budget")
  const budget = left.filter(({ state }) => state === "budget")
  await expectRows(page, budget, "all filters by keyboard")
  if (budget.length === 0) throw new Error("All filters of the check leave no row.")
  await page.getByRole("searchbox").focus()
  await keyboard.type(" and nothing else")
  await page.getByText("No run matches these filters").waitFor()
  await tabTo("Clear the filters")
  await keyboard.press("Enter")
  await expectRows(page, all, "cleared filters")
  await page.getByRole("searchbox").focus()
  await tabTo("No answer")
  await keyboard.press("Space")
  const unanswered = all.filter(({ state }) => chips[1]![1].includes(state))
  await expectRows(page, unanswered, "a chip by keyboard")
  await clear(page)
}

const ordered = async (page: Page): Promise<void> => {
  const by: ReadonlyArray<readonly [head: string, key: (row: Row) => number]> = [
    ["Cost", ({ cost_usd }) => cost_usd],
    ["Time", millisOf],
    ["Started", ({ started_at }) => started_at]
  ]
  for (const [head, key] of by) {
    await page.getByRole("columnheader", { name: head }).getByRole("button").click()
    await expectRows(
      page,
      all.toSorted((one, other) => key(other) - key(one)),
      `sorted by ${head}`
    )
  }
  const urgency = ["failed", "waiting", "running"]
  await page.getByRole("button", { name: "Needs you and failures first" }).click()
  const first = all.toSorted((one, other) => urgency.indexOf(other.state) - urgency.indexOf(one.state))
  await expectRows(page, first, "the urgent ones first")
  await page.getByRole("button", { name: "Needs you and failures first" }).click()
}

/** New runs arrive, and one is deleted, while a row is selected and focused. */
const arriving = async (page: Page): Promise<void> => {
  const { keyboard } = page
  let added: ReadonlyArray<Row> = []
  let removed = ""
  await page.route(/\/v1\/runs\?limit=50$/, async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { readonly data: ReadonlyArray<Row> }
    const data = [...added, ...body.data].filter(({ id }) => id !== removed).slice(0, 50)
    await route.fulfill({ response, json: { ...body, data } })
  })
  await page.locator(".rows").focus()
  for (let count = 0; count < 3; count += 1) await keyboard.press("j")
  const selected = () => page.locator(".run-row.selected .c-question a").textContent()
  if ((await selected()) !== all[3]!.question) throw new Error("J does not move the selection.")
  await page.locator(".run-row.selected .c-question a").focus()
  added = [{ ...all[0]!, id: "new", question: "A new run", fork_of: "row-5", started_at: newestRow + 1 }]
  removed = "row-1"
  await page.getByText("A new run").waitFor()
  await page.getByText(all[1]!.question!).waitFor({ state: "detached" })
  if ((await selected()) !== all[3]!.question) throw new Error("A new run moves the selection.")
  if ((await page.evaluate(() => document.activeElement?.textContent)) !== all[3]!.question)
    throw new Error("A new run takes the focus from a row.")
  if (!(await page.locator(".run-row").filter({ hasText: "Fork of row-5" }).isVisible()))
    throw new Error("A fork is not marked.")
  // The focused row leaves the document when the list is scrolled.
  await page.locator(".rows").evaluate((element) => (element.scrollTop = 50_000))
  await page.waitForFunction(() => document.activeElement?.classList.contains("rows"))
  await page.unroute(/\/v1\/runs\?limit=50$/)
}

/** Maximum CPU time of a task of the page with 10,000 rows, in milliseconds. It may double on a busy machine. */
const longestMillis = 300

/** Uses the list. Returns the problem, if there is one, and the CPU time of the longest task. */
export const checkList = async (browser: Browser) => {
  const server = await serve<{ readonly url: string }>(
    "large",
    JSON.stringify({ rows, characters: 1, deltas: 1, items: 1 })
  )
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
  const problems: Array<string> = []
  let longest = 0
  try {
    page.setDefaultTimeout(30_000)
    await page.clock.setFixedTime(newestRow)
    await page.goto(server.printed.url)
    await page.getByText(`${whole(rows)} in all`).waitFor()
    for (const part of [byMouse, byKeyboard, ordered, arriving]) {
      await browser.startTracing(page, { categories: ["toplevel"] })
      await clear(page)
      await part(page).catch(({ message }: Error) => problems.push(`List of runs, ${part.name}: ${message}`))
      longest = Math.max(longest, ...tasksIn(await browser.stopTracing()))
    }
    if (longest > longestMillis)
      problems.push(`List of runs: a task takes ${longest} ms; at most ${longestMillis} are allowed.`)
  } finally {
    await page.close()
    server.stop()
  }
  return { problems, longest }
}

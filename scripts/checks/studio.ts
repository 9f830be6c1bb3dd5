/**
 * Checks the studio in a real browser with real runs: its size, axe violations on its pages (on a desktop with the
 * light theme and on a phone with the dark theme), hostile text, large contents, each sentence of what the pages
 * promise, and servers that fail. Without a Chromium, only the size is checked.
 */
import { execFile, execFileSync, spawn } from "node:child_process"
import fs from "node:fs"
import { createRequire } from "node:module"
import os from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import zlib from "node:zlib"
import { type Browser, chromium as driver, type Page } from "playwright-core"
import { buildApp, bundleApp, bundleExport } from "../../packages/studio/scripts/build.ts"
import { stalePages } from "../../packages/studio/scripts/exported.ts"
import { chromium } from "../setup/chromium.ts"
import { root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"
import { measureAll } from "./studioFigures.ts"
import { checkList } from "./studioList.ts"
import { describeThemes, differences, faultsOf, isWriting, missedFaults, settled } from "./studioLook.ts"
import { always, everyOther, openPage, type Turn } from "./studioPages.ts"
import { serve } from "./studioServer.ts"
import { steer } from "./studioSteering.ts"
import { fail, serveReader, walk } from "./studioWalk.ts"

/** Maximum total size of the app in bytes, compressed with gzip, both on a server and in an exported page. */
const mostBytes = 120_000

/** Maximum size loaded before the list of runs is displayed, in bytes: the first script and its static imports. */
const mostBytesAtFirst = 35_000

const bytesOf = (files: Iterable<Uint8Array>): number => {
  let bytes = 0
  for (const contents of files) bytes += zlib.gzipSync(contents, { level: 9 }).length
  return bytes
}

const sizeProblems = async (): Promise<ReadonlyArray<string>> => {
  const files = await bundleApp()
  const first = new Set(["studio.js", "studio.css"])
  for (const name of first) {
    const text = Buffer.from(files.get(name)!).toString("utf8")
    for (const [, imported] of text.matchAll(/(?:from|import)"\.\/(page-\w+\.js)"/g)) first.add(imported!)
  }
  const weights = [
    ["The page", bytesOf(files.values()), mostBytes],
    ["The script of an exported page", bytesOf([await bundleExport()]), mostBytes],
    ["The list of runs", bytesOf([...first].map((name) => files.get(name)!)), mostBytesAtFirst]
  ] as const
  return weights.flatMap(([name, bytes, most]) =>
    bytes > most ? [`${name} weighs ${bytes} bytes; at most ${most} are allowed.`] : []
  )
}

const condition = "--conditions=@divisi/source"

const main = path.join(root, "packages/cli/src/main.ts")

/** Runs a command of `divisi` in a folder. */
const divisi = (cwd: string, ...args: ReadonlyArray<string>): Promise<unknown> =>
  promisify(execFile)(process.execPath, [condition, main, ...args, "--config", "none"], { cwd })

/** Creates a small evaluation and a small training run in a folder. */
const measure = (folder: string) =>
  Promise.all([
    divisi(
      folder,
      ...["eval", "--policy", "lexical", "--baselines", "single,random", "--limit", "5", "--transcripts"],
      ...["--seed", "11", "--out", "evaluation"]
    ),
    divisi(folder, "train", "--recipe", "toy", "--iterations", "6", "--out", "toy")
  ])

/** Environment variables for a server's stores, so that those of the user are not used. */
const stores = ["RUNS", "RESPONSES", "ACCOUNTS", "KEYS", "OUTCOMES"]

/** Starts a command that listens, and waits for its address. */
const start = async (cwd: string, args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [condition, main, ...args, "--port", "0", "--json"], {
    cwd,
    env: {
      ...process.env,
      ...Object.fromEntries(stores.map((name) => [`DIVISI_${name}`, path.join(cwd, `served-${name}`)]))
    },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = /http:\/\/[^"]+/.exec(text)?.[0]
      if (found !== undefined) resolve(found)
    })
    child.on("close", (code) => reject(new Error(`divisi ${args[0]} ended with ${code}.`)))
  })
  return { url, stop: () => child.kill() }
}

interface Axe {
  readonly run: (options: { readonly resultTypes: ReadonlyArray<string> }) => Promise<{
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly nodes: ReadonlyArray<{ readonly html: string }>
    }>
  }>
}

const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

/** Both screen sizes and both themes, combined into two views of each page. */
const views = [
  ["desktop", "light"],
  ["phone", "dark"]
] as const

interface Look {
  /** Name of the page's recorded description. Pages without one are only searched for faults. */
  readonly name?: string
  readonly address: string
  readonly shows: string | RegExp
}

/** Folder for pictures of all described pages, in both themes. */
const pictures = process.env.DIVISI_PICTURES

/** The clock of the browser, some time after the runs. */
const now = new Date(Date.UTC(2100, 0, 2, 1))

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Returns the axe violations on a page, the faults of its layout, and whether text was executed as a script. */
const problemsOf = async (page: Page, where: string): Promise<ReadonlyArray<string>> => {
  const broken = await page.evaluate(() => "broken" in globalThis)
  const turned = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent))
  const faults = await faultsOf(page)
  const { violations } = (await page.evaluate(`${axe}\naxe.run({ resultTypes: ["violations"] })`)) as Awaited<
    ReturnType<Axe["run"]>
  >
  return [
    ...(broken ? [`${where}: a text was run as a script.`] : []),
    ...(turned ? [`${where}: a text turns the direction of the page.`] : []),
    ...faults.map((fault) => `${where}: ${fault}`),
    ...violations.map(({ id, nodes }) => `${where}: ${id} at ${nodes[0]?.html.slice(0, 200)}`)
  ]
}

/** Compares a page with its recorded description, and takes its pictures if they are wanted. */
const compare = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  await settled(page)
  const problems = differences(name, await describeThemes(page))
  if (pictures !== undefined) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}.png`) })
    }
  }
  return problems
}

/** Opens a page in a view. Returns axe violations, differences from its description, and executed scripts. */
const judge = async (page: Page, view: (typeof views)[number], look: Look): Promise<ReadonlyArray<string>> => {
  const { address, name, shows } = look
  const [size, colorScheme] = view
  const where = `${address} (${size}, ${colorScheme})`
  const problems: Array<string> = []
  const hear = (error: Error) => void problems.push(`${where}: ${error.message}`)
  page.on("pageerror", hear)
  try {
    await page.emulateMedia({ colorScheme })
    await page.goto(address)
    await page.getByText(shows).filter({ visible: true }).first().waitFor()
    if (!isWriting) problems.push(...(await problemsOf(page, where)))
    if (name !== undefined) problems.push(...(await compare(page, `${name}-${size}`)))
    if (name === "run-map" && !isWriting && size === "desktop") problems.push(...(await missedFaults(page)))
  } catch (error) {
    problems.push(`${where}: ${(error as Error).message}`)
  }
  // The next document is loaded again, also if its address differs only after the #.
  await page.goto("about:blank")
  page.off("pageerror", hear)
  return problems
}

/** Opens pages in the views whose turn it is. Returns the problems. */
const judgeAll = async (browser: Browser, looks: ReadonlyArray<Look>, turn: Turn): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  for (const [at, view] of views.entries()) {
    const [size, colorScheme] = view
    const page = await openPage(browser, { viewport: sizes[size], colorScheme })
    await page.clock.setFixedTime(now)
    for (const [index, look] of looks.entries()) if (turn(at + index)) problems.push(...(await judge(page, view, look)))
    await page.context().close()
  }
  return problems
}

/** Sizes for the short version of `pnpm studio:figures`. */
const fewer = { rows: 2_000, characters: 2_000_000, deltas: 10_000, items: 300 }

/** Limits for each page at these sizes. Times are CPU times, which may double on a busy machine. */
const bounds = { rows: 80, elements: 3_000, megabytes: 100, longestMillis: 400 }

const figureProblems = async (browser: Browser, turn: Turn): Promise<ReadonlyArray<string>> => {
  const { figures, mostRows } = await measureAll(browser, fewer, turn)
  return [
    ...(mostRows > bounds.rows ? [`The list draws ${mostRows} rows at once; at most ${bounds.rows} are allowed.`] : []),
    ...figures.flatMap((page) =>
      (["elements", "megabytes", "longestMillis"] as const).flatMap((name) =>
        page[name] > bounds[name]
          ? [`${page.name}: ${name} is ${page[name]}; at most ${bounds[name]} are allowed.`]
          : []
      )
    )
  ]
}

/** Checks the size, and opens pages with real runs, in the combinations whose turn it is. */
const checkTurn = async (turn: Turn): Promise<Report> => {
  const stale = (await stalePages()).map((page) => `${page} has an earlier page of the studio: pnpm studio:exported.`)
  const problems = [...(await sizeProblems()), ...stale]
  const executablePath = chromium()
  if (executablePath === undefined) {
    process.stderr.write("studio: its pages are left out, since there is no Chromium; set DIVISI_CHROMIUM to one.\n")
    return { passed: 1 - problems.length, problems }
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-studio-"))
  await Promise.all([buildApp(path.join(root, "packages/studio/dist/app")), measure(folder)])
  const written = path.join(root, "packages/studio/test/fixtures/write.ts")
  const ids = JSON.parse(execFileSync(process.execPath, [condition, written, folder], { encoding: "utf8" }))
  const apart = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-served-"))
  const [{ stop, url }, server] = await Promise.all([
    start(folder, ["studio", folder]),
    start(apart, ["serve", "--config", "none"])
  ])
  const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] })
  const records = await serve<{ readonly pages: ReadonlyArray<string> }>("hostile", url)
  const run = (name: string): string => `${url}#/runs/${ids[name].runId}`
  const looks: ReadonlyArray<Look> = [
    { name: "runs", address: url, shows: "Checkout was slow" },
    { name: "run", address: run("incident.json"), shows: "Fix: restore" },
    { name: "run-failed-step", address: `${run("incident.json")}?step=0.2`, shows: "3 calls" },
    { name: "run-earlier", address: `${run("incident.json")}?at=900`, shows: "No answer yet at this time" },
    { name: "run-policy", address: `${run("incident.json")}?pane=policy`, shows: "Written by incident" },
    { name: "run-fork", address: run("fork.json"), shows: "Forked from step 3" },
    { name: "run-map", address: `${run("mapped.json")}?step=0.1`, shows: "3 answered" },
    { name: "run-item", address: `${run("mapped.json")}?step=0.1&item=1`, shows: "Review client.ts." },
    { address: run("suspended.json"), shows: "Tool result needed" },
    { name: "run-missing", address: `${url}#/runs/nothing`, shows: "Not found" },
    { name: "compare", address: `${url}#/compare`, shows: /^Question$/ },
    {
      name: "compare-two",
      address: `${url}#/compare?a=${ids["incident.json"].runId}&b=${ids["mapped.json"].runId}`,
      shows: "they differ from step 0"
    },
    { name: "evaluations", address: `${url}#/evaluations`, shows: "Complete" },
    { name: "evaluation", address: `${url}#/evaluations/evaluation?show=differ`, shows: "At equal tokens" },
    { name: "costs", address: `${url}#/costs`, shows: "paid for orchestration" },
    { name: "trainings", address: `${url}#/training`, shows: "Finished" },
    { address: `${url}#/training/toy?iteration=22`, shows: "mean reward" },
    { name: "operate", address: new URL("/studio/#/operate", server.url).href, shows: "Keys and budgets" },
    { name: "playground", address: new URL("/studio/#/playground", server.url).href, shows: "Budget, USD" },
    { address: run("hostile.json"), shows: "[U+202E]" },
    ...records.printed.pages.map((address) => ({ address, shows: /globalThis\.broken|\[U\+202E\]/ }))
  ]
  let sentences = 0
  try {
    problems.push(
      ...(await judgeAll(
        browser,
        looks.filter(({ name }) => name !== undefined || !isWriting),
        turn
      ))
    )
    if (isWriting) return { passed: looks.length, problems }
    const look = async (page: Page, name: string) => void problems.push(...(await problemsOf(page, name)))
    problems.push(...(await figureProblems(browser, turn).catch(({ message }: Error) => [`Figures: ${message}`])))
    const list = await checkList(browser).catch(({ message }: Error) => ({ problems: [`List of runs: ${message}`] }))
    problems.push(...list.problems)
    const reader = await serveReader(path.join(apart, "reader"))
    try {
      const walked = await walk(browser, reader)
      sentences = walked.count
      problems.push(...walked.problems, ...(await fail(browser, reader, turn)))
    } finally {
      reader.stop()
    }
    await steer(browser, folder, look).catch(({ message }: Error) => problems.push(`Steering: ${message}`))
  } finally {
    await browser.close()
    records.stop()
    stop()
    server.stop()
    for (const place of [folder, apart]) fs.rmSync(place, { recursive: true, force: true })
  }
  return { passed: Math.max(0, looks.length + sentences + 5 - problems.length), problems }
}

/**
 * Checks the size, each promise of the pages, and every other combination of a page with a view, a failure or a large
 * content. The next commit may get the others.
 */
export const check = (): Promise<Report> => checkTurn(isWriting ? always : everyOther)

/** Checks all combinations. */
export const checkLong = (): Promise<Report> => checkTurn(always)

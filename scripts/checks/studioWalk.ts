/**
 * Checks each sentence of what the pages promise, in a real browser with the runs of `reader.ts`: what is shown, and
 * what a click or a key leads to. `docs/lab/studio.md` names the sentences.
 */
import { spawn } from "node:child_process"
import path from "node:path"
import type { Browser, Page } from "playwright-core"
import { root } from "../setup/workspace.mjs"
import { checkFailures, type Loaded } from "./studioFailures.ts"
import { openPage, type Turn } from "./studioPages.ts"

/** The addresses of the studio of a server and of a folder. */
interface Served {
  readonly server: string
  readonly files: string
}

/** Serves the runs, an evaluation and a training. Returns the addresses of the server's and the folder's studio. */
export const serveReader = async (folder: string) => {
  const script = path.join(root, "packages/studio/test/fixtures/reader.ts")
  const child = spawn(process.execPath, ["--conditions=@divisi/source", script, folder], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const text = await new Promise<string>((resolve, reject) => {
    let all = ""
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      all += piece
      if (all.split("\n").length > 2) resolve(all)
    })
    child.on("close", (code) => reject(new Error(`reader.ts ended with ${code}.`)))
  })
  const [server, files] = text.trim().split("\n")
  return { server: server!, files: files!, stop: () => child.kill() }
}

interface Listed {
  readonly id: string
  readonly question: string
  readonly policy: string
  readonly fork_of?: string
}

const shown = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor()

const all = async (page: Page, ...texts: ReadonlyArray<string | RegExp>): Promise<void> => {
  for (const text of texts) await shown(page, text)
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).first()

const node = (page: Page, name: RegExp) => page.getByRole("button", { name }).first()

/** Waits until a condition holds, and names it if it does not. */
const holds = async (what: string, is: () => Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 10_000; !(await is()); await new Promise((resolve) => setTimeout(resolve, 50)))
    if (Date.now() > end) throw new Error(what)
}

/** A sentence, the page that it is about, and what is looked for there. */
type Sentence = readonly [says: string, address: string, look: (page: Page) => Promise<void>]

const sentencesOf = (server: string, files: string, runs: ReadonlyArray<Listed>): ReadonlyArray<Sentence> => {
  const find = (word: string) => runs.find(({ question }) => question.includes(word))!.id
  const fork = runs.find(({ fork_of }) => fork_of !== undefined)!
  const incident = fork.fork_of!
  const alone = runs.find(({ policy, question }) => policy.startsWith("single") && question.includes("Checkout"))!.id
  const run = (id: string, query = "") => `${server}#/runs/${id}${query}`
  return [
    [
      "The plan as a graph and the waterfall are side by side",
      run(incident),
      async (page) => {
        const [plan, waterfall] = await Promise.all(
          ["Plan", "Waterfall"].map((name) => page.getByRole("heading", { name, exact: true }).boundingBox())
        )
        if (Math.abs(plan!.y - waterfall!.y) > 12 || waterfall!.x < plan!.x + 200) throw new Error("They are not.")
      }
    ],
    [
      "The critical path is marked",
      run(incident),
      async (page) => {
        await all(page, "critical path 4", "on the critical path")
        await holds(
          "No bar is on the critical path.",
          async () => (await page.locator(".waterfall .critical").count()) > 2
        )
      }
    ],
    [
      "Waste is marked: retried, skipped, failed",
      run(incident),
      (page) => all(page, "4 failed, 1 skipped", "failed after 3 attempts", "no step reads it", "2 (failed)")
    ],
    [
      "A stopped step says why, and that its request is paid",
      run(find("database"), "?step=0.3"),
      (page) =>
        all(
          page,
          // The waterfall has room for it only next to a short bar.
          /^enough other answers$/,
          "so it was stopped",
          "1 interrupted, 1 skipped",
          "Requests that had already been sent are charged.",
          /\$0\.\d+ without an answer/
        )
    ],
    [
      "The selected step has its messages, answer, calls, tokens and price",
      run(incident, "?step=0.1"),
      (page) =>
        all(
          page,
          "Messages sent",
          "From the dashboard export: which checks failed, and when?",
          "The dashboard shows 212 failed checkouts",
          "2 calls",
          "gemini-2.5-flash has reached its provider's rate limit.",
          /Next attempt after \d+/,
          "611",
          "18 % of run"
        )
    ],
    [
      "The step that made the run expensive is named",
      run(incident),
      (page) => all(page, /7\d\u00a0% in step 5/, "$0.0021")
    ],
    [
      "A step is selected by key and by click, in both views",
      run(incident),
      async (page) => {
        await shown(page, "Step 5")
        await page.keyboard.press("ArrowUp")
        await page.getByRole("heading", { name: "Step 4", exact: true }).waitFor()
        await node(page, /^Step 0, qwen3-8b, Answered/).click()
        await page.getByRole("heading", { name: "Step 0", exact: true }).waitFor()
        await page.locator(".waterfall .row").nth(3).click()
        await page.getByRole("heading", { name: "Step 3", exact: true }).waitFor()
      }
    ],
    [
      "The graph has a table for screen readers",
      run(incident),
      async (page) => {
        await button(page, "As table").click()
        // The table is always there for screen readers, within one pixel.
        await page.locator(".table-holder").getByText("claude-sonnet-4-6").first().waitFor()
        await all(page, "State the cause and the fix in two sentences each.")
      }
    ],
    [
      "A map is unfolded, and one of its items opened",
      run(find("merged"), "?step=0.1"),
      async (page) => {
        await all(page, "4 items", "3 answered", "The input is too long")
        await page.getByRole("region", { name: "Items" }).getByRole("button", { name: "2", exact: true }).click()
        await all(page, "Item 2", "All items of step 1", "Review retry.ts.")
        await button(page, "All items of step 1").click()
        await shown(page, "3 answered")
      }
    ],
    [
      "A nested run is opened, with its price",
      run(find("migration"), "?step=0.0"),
      async (page) => {
        await all(page, /7\d % of run/)
        if ((await page.getByRole("cell", { name: "$0", exact: true }).count()) > 0)
          throw new Error("The call of a nested run costs nothing.")
        await button(page, "Open nested run").click()
        await all(page, "/ nested", "Subtask: Collect what the migration needs.")
        await node(page, /^Step 1, reviewer/).waitFor()
      }
    ],
    [
      "A slider shows the run at any time",
      run(incident),
      async (page) => {
        const slider = page.getByRole("slider").first()
        await slider.focus()
        await slider.press("Home")
        await all(page, "Cost so far", "No answer yet at this time.")
        await page.locator("h1").click()
        await holds("No step starts.", async () => {
          await page.keyboard.press("ArrowRight")
          return (await node(page, /, Running/).count()) > 0
        })
      }
    ],
    [
      "The run is replayed by key",
      run(find("French")),
      async (page) => {
        await shown(page, "Failed")
        await page.locator("h1").click()
        await page.keyboard.press("Space")
        await shown(page, "Cost so far")
      }
    ],
    [
      "The same question by one strong worker: cost and time",
      run(incident),
      (page) => all(page, "One worker", "claude-sonnet-4-6 alone:", /This plan cost \d\.\d× and took \d\.\d×/)
    ],
    [
      "What the policy was shown and wrote, and the plan read from it",
      run(incident, "?pane=policy"),
      (page) => all(page, "Shown to the policy", "Written by planner", "Read as a plan of 6 steps", "Worker 13")
    ],
    [
      "A link to share is copied",
      run(incident),
      async (page) => {
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
        await button(page, "Link").click()
        await shown(page, "Copied")
        const copied = await page.evaluate(() => navigator.clipboard.readText())
        if (copied !== page.url()) throw new Error(`The link is ${copied}.`)
      }
    ],
    [
      "A failed run says why, and can be resumed",
      run(find("French")),
      async (page) => {
        await all(page, "The input has 41,210 tokens; at most 32,768 are accepted", "Failure")
        await button(page, "Resume").waitFor()
      }
    ],
    [
      "A fork names its origin, and what was not paid again",
      run(fork.id),
      async (page) => {
        await all(
          page,
          "Forked from step 3 of",
          "3 steps are from that run, and not paid again",
          "reused, not paid again",
          /not paid again: \$0\.\d+$/
        )
        await page.getByRole("link", { name: incident.slice(0, 12) }).click()
        await node(page, /^Step 3, gpt-5-mini/).waitFor()
      }
    ],
    [
      "A plan that needs a decision shows its highest and likely price",
      run(find("Which checks")),
      async (page) => {
        await all(page, "At most", "Likely", "This plan is waiting for your approval")
        await all(page, /^\$0\.52$/)
        for (const name of ["Approve and run", "Edit the plan"]) await button(page, name).waitFor()
        await button(page, "Refuse").click()
        await holds("The reason has not the focus.", () =>
          page.evaluate(() => document.activeElement?.getAttribute("name") === "reason")
        )
      }
    ],
    [
      "A pending tool call shows its arguments, and its turn has no tick",
      run(find("Refund")),
      async (page) => {
        await all(page, "Tool result needed", '"order": 4711', "Send the result")
        const turn = page.getByRole("cell", { name: "Called a tool" })
        await turn.waitFor()
        if ((await turn.locator(".tone-answered").count()) > 0) throw new Error("The turn has a tick.")
      }
    ],
    [
      "A question without a comparison can be asked of one worker, whole",
      run(find("merged")),
      async (page) => {
        await page.getByRole("link", { name: "Ask one" }).click()
        await holds("The question is not repeated.", async () =>
          (await page.locator("textarea[name=question]").inputValue()).startsWith(
            "Review the change before it is merged."
          )
        )
        if ((await page.locator("select[name=model]").inputValue()) !== "worker/editor")
          throw new Error("Another worker.")
      }
    ],
    [
      "A playground with a pool, a policy, a budget and tools",
      `${server}#/playground`,
      async (page) => {
        await all(
          page,
          "Budget, USD",
          "Pool (all workers if none is selected)",
          "Each question is charged to your key."
        )
        for (const name of ["Model", "Policy", "Tools"]) await page.getByRole("combobox", { name }).waitFor()
      }
    ],
    [
      "Two runs of one task are compared",
      `${server}#/compare?a=${incident}&b=${alone}`,
      (page) =>
        all(page, /A costs \d\.\d times as much as B/, "Time, one scale", "they differ from step 0", "Steps that ran")
    ],
    [
      "One task under several policies",
      `${server}#/compare`,
      async (page) => {
        await page.getByRole("link", { name: /^Checkout was slow/ }).click()
        await all(page, "3 runs under 2 policies, the cheapest first.", "fork of")
        const first = await page.getByRole("row").nth(1).textContent()
        if (first?.includes("single:claude-sonnet-4-6") !== true) throw new Error(`The first row is ${first}.`)
        const boxes = page.getByRole("checkbox")
        await boxes.nth(0).check()
        await boxes.nth(1).check()
        await button(page, "Compare two").click()
        await shown(page, "Time, one scale")
      }
    ],
    [
      "Curves of a training have bands and smoothing",
      `${files}#/training/toy`,
      async (page) => {
        await all(page, /Reward rose from/, "mean of the rollouts, band of one standard deviation")
        const curve = page.getByRole("img", { name: /^Reward: reward from/ })
        const before = await curve.innerHTML()
        await page.getByRole("slider", { name: /Smoothing/ }).press("Home")
        await holds("The smoothing changes nothing.", async () => (await curve.innerHTML()) !== before)
      }
    ],
    [
      "Groups without a signal, entropy, and the shapes of plans over time",
      `${files}#/training/toy`,
      (page) =>
        all(page, "Groups without a learning signal", "Entropy of the policy", "Entropy of the plans", "Workers")
    ],
    [
      "A slider shows the rollouts of an iteration",
      `${files}#/training/toy?iteration=22`,
      async (page) => {
        await shown(page, /mean reward/)
        const slider = page.getByRole("slider", { name: /Iteration/ }).first()
        await slider.focus()
        await slider.press("ArrowRight")
        await holds("The iteration stays.", async () => page.url().includes("iteration=23"))
      }
    ],
    [
      "An evaluation has intervals, paired differences, the equal-budget verdict and cost against accuracy",
      `${files}#/evaluations/evaluation`,
      (page) =>
        all(
          page,
          "%, with 95 % intervals",
          "lexical minus each other policy",
          "At equal tokens",
          "Cost against accuracy",
          "p (Holm)"
        )
    ],
    [
      "The questions on which two policies differ are opened down to the run, its outcome, and back",
      `${files}#/evaluations/evaluation?show=differ`,
      async (page) => {
        await shown(page, "The two differ")
        const before = page.url()
        await page.locator("td button.link, th button.link").first().click()
        await all(page, "Expected")
        await page
          .getByRole("link", { name: /^Open the run of lexical/ })
          .first()
          .click()
        await holds("The run is not opened.", async () => page.url() !== before && page.url().includes("#/runs/"))
        await all(page, "Waterfall", /^(Correct|Wrong|Score 0\.\d+)$/, /Expected: /)
        await page.getByRole("link", { name: "All answers" }).click()
        await all(page, "The two differ", "Expected")
        await page.goBack()
        await shown(page, "Waterfall")
        await page.goBack()
        await all(page, "The two differ", "Expected")
      }
    ],
    [
      "Operators see cost by day, key and worker, vendors, load and keys",
      `${server}#/operate`,
      (page) => all(page, "Cost by day", "Cost by key", "Cost by worker", "Vendors", "Running", "Suspended")
    ],
    [
      "The filters and the order of the list are in its address",
      `${server}#/runs`,
      async (page) => {
        const found = runs.filter(({ policy, question }) => policy === "planner" && question.includes("Checkout"))
        const isFiltered = async () => {
          await shown(page, `${found.length} of ${runs.length}`)
          await holds("The address has not all filters.", async () =>
            ["text=Checkout", "policy=planner", "sort=cost"].every((part) => page.url().includes(part))
          )
          if ((await page.getByRole("searchbox").inputValue()) !== "Checkout") throw new Error("The text is missing.")
          if ((await page.getByRole("combobox", { name: "Policy" }).inputValue()) !== "planner")
            throw new Error("The policy is missing.")
        }
        await page.getByRole("searchbox").fill("Checkout")
        await page.getByRole("combobox", { name: "Policy" }).selectOption("planner")
        await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click()
        await isFiltered()
        await page.reload()
        await isFiltered()
        await page.getByRole("link", { name: "Compare", exact: true }).click()
        await page.getByRole("link", { name: /^Runs/ }).first().click()
        await isFiltered()
        await page.getByRole("searchbox").fill("no such run")
        await button(page, "Clear the filters").click()
        await shown(page, `${runs.length} of ${runs.length}`)
        if (!page.url().endsWith("#/runs?sort=cost")) throw new Error(`The address is ${page.url()}.`)
      }
    ],
    [
      "The list and the page of a run show the same time",
      `${server}#/runs`,
      async (page) => {
        const row = page.locator(".run-row").filter({ hasText: "Which database" })
        const listed = await row.locator(".c-time").textContent()
        await row.getByRole("link").click()
        const stat = page.locator(".stat").filter({ has: page.getByText("Time", { exact: true }) })
        const time = await stat.locator(".value").textContent()
        if (time !== listed) throw new Error(`The list shows ${listed}, and the page ${time}.`)
      }
    ],
    [
      "A list with runs of a journal and of transcripts shows calls instead of tokens",
      `${files}#/runs`,
      async (page) => {
        await page.getByRole("columnheader", { name: "Calls" }).waitFor()
        await page.getByRole("columnheader", { name: "Plan or state" }).waitFor()
      }
    ],
    [
      "An exported run is named, and has the cost of one worker",
      run(incident),
      async (page) => {
        const downloading = page.waitForEvent("download")
        await shown(page, "claude-sonnet-4-6 alone:")
        await button(page, "Export").click()
        const download = await downloading
        await shown(page, `Saved ${download.suggestedFilename()}`)
        const alone = await page.context().newPage()
        const file = `${await download.path()}.html`
        await download.saveAs(file)
        await alone.goto(`file://${file}`)
        await shown(alone, "claude-sonnet-4-6 alone:")
        await alone.close()
      }
    ],
    [
      "A lost connection is shown until the server answers again",
      `${server}#/runs`,
      async (page) => {
        await shown(page, /^Live/)
        await page.route(/\/v1\//, (route) => route.abort("connectionrefused"))
        await shown(page, /^No connection/)
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await shown(page, /^Live/)
      }
    ],
    [
      "A tab that is older than its server offers to reload",
      `${server}#/runs`,
      async (page) => {
        await shown(page, "Checkout was slow")
        await page.route(/\/page-\w+\.js/, (route) => route.fulfill({ status: 404 }))
        await page.getByRole("link", { name: "Compare", exact: true }).click()
        await all(page, "The studio was updated", "This tab shows an earlier version.")
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await button(page, "Reload").click()
        await shown(page, /^Question$/)
      }
    ],
    [
      "The page obeys the theme, by key",
      `${server}#/runs`,
      async (page) => {
        await shown(page, "Checkout was slow")
        const color = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
        const before = await color()
        await page.keyboard.press("t")
        await holds("T does not change the theme.", async () => (await color()) !== before)
      }
    ],
    [
      "All keys are listed, and can be turned off",
      `${server}#/runs`,
      async (page) => {
        await shown(page, "Checkout was slow")
        await page.keyboard.press("?")
        await all(page, "Shortcuts", "Fork from the step")
        await page.getByRole("checkbox", { name: /single letter/ }).uncheck()
        await page.keyboard.press("Escape")
        await page.keyboard.press("c")
        await page.keyboard.press("/")
        if (await page.getByRole("searchbox").evaluate((element) => element === document.activeElement))
          throw new Error("A letter still acts.")
      }
    ]
  ]
}

/** Texts that an address may contain, as anyone can send a link to the studio. */
const hostile = [
  "<script>globalThis.broken = true</script>",
  "javascript:globalThis.broken=true",
  "\u202egnp.exe",
  "__proto__",
  "constructor",
  "../../v1/keys",
  "%E0%A4%A",
  "%00",
  "9".repeat(400),
  "x".repeat(20_000)
]

/** Returns a query in which all names have the same value. */
const queryOf = (part: string, ...names: ReadonlyArray<string>): string =>
  names.map((name) => `${name}=${part}`).join("&")

/** Returns the addresses with a hostile part in each place. */
const hostileAddresses = ({ files, server }: Served, run: string): ReadonlyArray<(part: string) => string> => [
  (part) => `${server}#/${part}`,
  (part) =>
    `${server}#/runs?${queryOf(part, "text", "show", "policy", "worker", "ending", "key", "started", "cost", "time", "sort", "first")}`,
  (part) => `${server}#/runs/${part}`,
  (part) => `${server}#/runs/${run}?${queryOf(part, "step", "at", "item", "in", "pane", "of", "benchmark", "task")}`,
  (part) => `${server}#/compare?${queryOf(part, "a", "b")}`,
  (part) => `${server}#/compare?question=${part}`,
  (part) => `${server}#/playground?${queryOf(part, "run", "model")}`,
  (part) => `${files}#/evaluations/${part}`,
  (part) => `${files}#/evaluations/evaluation?${queryOf(part, "show", "a", "b", "question", "benchmark")}`,
  (part) => `${files}#/training/toy?${queryOf(part, "iteration", "with", "rollout")}`
]

/**
 * Opens addresses with hostile parts in all places. Each shows a page with a heading, and runs nothing. The document
 * is loaded again only for another server.
 */
export const openHostile = async (browser: Browser, served: Served, run: string): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  let address = ""
  const problem = (what: string) => void problems.push(`${address.slice(0, 120)}: ${what}`)
  const page = await openPage(browser)
  page.on("pageerror", ({ message }) => problem(message))
  // Also texts that are not encoded.
  const parts = hostile.flatMap((text) => [
    ...new Set([text.startsWith("%") ? text : encodeURIComponent(text), encodeURI(text)])
  ])
  for (const addressOf of hostileAddresses(served, run))
    for (const part of parts) {
      address = addressOf(part)
      try {
        await page.goto(address)
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
        await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" })
        await page.locator("main :is(h1, h2)").filter({ visible: true }).first().waitFor()
        const found = await page.evaluate(() => ({
          isBroken: "broken" in globalThis,
          isTurned: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent + document.title),
          isStopped: document.body.textContent.includes("This page could not be displayed")
        }))
        if (found.isBroken) problem("a text was run as a script.")
        if (found.isTurned) problem("a text turns the direction of the page.")
        if (found.isStopped) problem("the page could not be displayed.")
      } catch (error) {
        problem((error as Error).message.split("\n", 1)[0]!)
      }
    }
  await page.context().close()
  return problems
}

/** Walks through the sentences, and opens each kind of page while its server fails. */
export const walk = async (
  browser: Browser,
  { files, server }: Served,
  only = ""
): Promise<{ readonly count: number; readonly problems: ReadonlyArray<string> }> => {
  const response = await fetch(new URL("/v1/runs?limit=50", server))
  const { data } = (await response.json()) as { readonly data: ReadonlyArray<Listed> }
  const sentences = sentencesOf(server, files, data).filter(([says]) => says.includes(only))
  const problems: Array<string> = []
  let current = ""
  const problem = (what: string) => void problems.push(`${current}: ${what}`)
  const page = await openPage(browser)
  page.on("pageerror", ({ message }) => problem(message))
  for (const [says, address, look] of sentences) {
    current = says
    try {
      await page.goto(address)
      await look(page)
      await page.evaluate(() => localStorage.clear())
    } catch (error) {
      problem((error as Error).message.split("\n", 4).join(" "))
    }
    // The next document is loaded again, also if its address differs only after the #.
    await page.goto("about:blank")
  }
  await page.context().close()
  if (only === "") problems.push(...(await openHostile(browser, { files, server }, data[0]!.id)))
  return { count: sentences.length, problems }
}

/** The kinds of pages that load data, and a text of each. */
export const loadedPages = async ({ files, server }: Served): Promise<ReadonlyArray<Loaded>> => {
  const response = await fetch(new URL("/v1/runs?limit=50", server))
  const { data } = (await response.json()) as { readonly data: ReadonlyArray<Listed> }
  const [one, other] = data.filter(({ question }) => question.includes("Checkout"))
  return [
    { address: `${server}#/runs`, shows: "Checkout was slow" },
    { address: `${server}#/runs/${one!.id}`, shows: "Fix: restore" },
    { address: `${server}#/compare`, shows: /^Question$/ },
    { address: `${server}#/compare?a=${one!.id}&b=${other!.id}`, shows: "Time, one scale" },
    { address: `${server}#/compare?question=${one!.id}`, shows: "Runs of this question" },
    { address: `${server}#/playground`, shows: "Budget, USD" },
    { address: `${server}#/operate`, shows: "Cost by key" },
    { address: `${files}#/evaluations`, shows: "Complete" },
    { address: `${files}#/evaluations/evaluation`, shows: "At equal tokens" },
    { address: `${files}#/costs`, shows: "paid for orchestration" },
    { address: `${files}#/training`, shows: "Finished" },
    { address: `${files}#/training/toy`, shows: "mean of the rollouts" }
  ]
}

/** Opens each kind of page while its server fails, under some of the failures. Returns the problems. */
export const fail = async (browser: Browser, served: Served, turn: Turn): Promise<ReadonlyArray<string>> =>
  checkFailures(browser, await loadedPages(served), turn)

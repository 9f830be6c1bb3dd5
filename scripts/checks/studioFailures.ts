/**
 * Checks pages of the studio whose server is slow, unreachable, or refuses their requests: each page says so, offers a
 * way to continue, and shows its data once the server answers again.
 */
import type { Browser, Page, Route } from "playwright-core"
import { openPage, type Turn } from "./studioPages.ts"

/** A page, and a text that it shows with its data. */
export interface Loaded {
  readonly address: string
  readonly shows: string | RegExp
}

const api = /\/(?:v1\/|metrics)/

const refuse = (status: number, message: string) => (route: Route) =>
  route.fulfill({ status, json: { error: { message, type: "error", param: null, code: null } } })

/** What may happen to all requests of a page, and what the page shows then. */
const failures: ReadonlyArray<
  readonly [name: string, happens: (route: Route) => Promise<void>, shows: ReadonlyArray<RegExp>]
> = [
  ["unreachable", (route) => route.abort("connectionrefused"), [/The server cannot be reached/]],
  ["without a key", refuse(401, "This server needs an API key."), [/An API key is needed/, /needs an API key\./]],
  ["not permitted", refuse(403, "This key may not do that."), [/Not permitted/, /This key may not do that\./]],
  ["failing", refuse(500, "The database is locked."), [/The database is locked\./]],
  [
    "behind a proxy that fails",
    (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }),
    [/The server answered 502/]
  ],
  [
    "another program",
    (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<h1>Welcome</h1>" }),
    [/answer of the server cannot be read/]
  ]
]

const visible = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor()

/** Opens an address under the failures whose turn it is. Returns the problems. */
const judge = async (page: Page, { address, shows }: Loaded, turn: Turn): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  const hear = ({ message }: Error) => void problems.push(`${address}: ${message}`)
  page.on("pageerror", hear)
  const attempt = async (name: string, part: () => Promise<void>) => {
    await part().catch(({ message }: Error) =>
      problems.push(`${address}, ${name}: ${message.split("\n", 3).join(" ")}`)
    )
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await page.goto("about:blank")
  }
  for (const [index, [name, happens, texts]] of failures.entries()) {
    if (!turn(index)) continue
    await attempt(name, async () => {
      await page.route(api, happens)
      await page.goto(address)
      for (const text of texts) await visible(page, text)
      await page.getByRole("alert").first().waitFor()
      if ((await page.getByRole("heading").count()) === 0) throw new Error("The page has no heading.")
      await page.unrouteAll({ behavior: "ignoreErrors" })
      // Some pages ask again by themselves.
      await page
        .getByRole("button", { name: "Retry" })
        .first()
        .click({ timeout: 2_000 })
        .catch(() => {})
      await visible(page, shows)
    })
  }
  await attempt("slow", async () => {
    let release = () => {}
    const open = new Promise<void>((resolve) => (release = resolve))
    await page.route(api, async (route) => {
      await open
      await route.continue().catch(() => {})
    })
    await page.goto(address)
    await page.getByRole("status", { name: "Loading" }).first().waitFor()
    release()
    await visible(page, shows)
  })
  page.off("pageerror", hear)
  return problems
}

/** Opens each page under the failures whose turn it is. Returns the problems. */
export const checkFailures = async (
  browser: Browser,
  pages: ReadonlyArray<Loaded>,
  turn: Turn
): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  const page = await openPage(browser)
  for (const [at, loaded] of pages.entries()) problems.push(...(await judge(page, loaded, (index) => turn(at + index))))
  await page.context().close()
  return problems
}

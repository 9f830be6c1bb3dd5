/**
 * Checks that the pages in `examples/stream-to-a-page` display a team in a real browser. Skipped if there is no
 * Chromium.
 */
import { spawn } from "node:child_process"
import path from "node:path"
import { build } from "esbuild"
import { type Browser, chromium as driver, type Page } from "playwright-core"
import { chromium } from "../setup/chromium.ts"
import { root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

const example = path.join(root, "examples/stream-to-a-page")

/** Serves the example like `npm run serve`. */
const serve = async () => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", "src/main.ts", "--serve"], {
    cwd: example,
    stdio: ["ignore", "pipe", "inherit"]
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = /http:\/\/\S+/.exec(text)?.[0]
      if (found !== undefined) resolve(found)
    })
    child.on("close", (code) => reject(new Error(`The example ended with ${code}.`)))
  })
  return { url, stop: () => child.kill() }
}

/** Bundles the page of the Next app into one script. */
const script = async (): Promise<string> => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createRoot } from "react-dom/client"
        import { createElement } from "react"
        import Page from "./src/app/page.tsx"
        createRoot(document.body).render(createElement(Page))`,
      resolveDir: example
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    logLevel: "silent"
  })
  return outputFiles[0]!.text
}

const shown = async (page: Page, texts: ReadonlyArray<string>): Promise<void> => {
  for (const text of texts) await page.getByText(text).first().waitFor()
}

const pages: Readonly<Record<string, (browser: Browser, url: string) => Promise<void>>> = {
  "a page with an EventSource": async (browser, url) => {
    const page = await browser.newPage()
    await page.goto(url)
    await page.getByRole("button", { name: "Ask" }).click()
    await shown(page, ["Write a draft. writer … done", "Shorten it. editor … done", "The sea, in short."])
  },
  "a page with useChat": async (browser, url) => {
    const page = await browser.newPage()
    const body = await script()
    await page.route("**/page", (route) =>
      route.fulfill({ contentType: "text/html", body: '<body></body><script type="module" src="/page.js"></script>' })
    )
    await page.route("**/page.js", (route) => route.fulfill({ contentType: "text/javascript", body }))
    await page.goto(`${url}/page`)
    await page.getByRole("button", { name: "Ask" }).click()
    await shown(page, ["writer: answered", "editor: answered", "The sea, in short."])
  }
}

/** Opens each page and asks a question. */
export const check = async (): Promise<Report> => {
  const executablePath = chromium()
  if (executablePath === undefined) {
    process.stderr.write("browser: left out, since there is no Chromium; set DIVISI_CHROMIUM to one.\n")
    return { passed: 0, problems: [] }
  }
  const { stop, url } = await serve()
  const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] })
  const problems: Array<string> = []
  try {
    for (const [name, use] of Object.entries(pages)) {
      await use(browser, url).catch((error: Error) => problems.push(`${name}: ${error.message}`))
    }
  } finally {
    await browser.close()
    stop()
  }
  return { passed: Object.keys(pages).length - problems.length, problems }
}

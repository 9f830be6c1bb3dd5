/**
 * Opens pages of the built site in a Chromium, on a desktop and on a phone, in both themes: the first paint has the
 * colours of the theme, and recordings begin with their text; a copy button covers no code; a wide table scrolls, and
 * the page does not.
 */
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { type Browser, chromium as driver } from "playwright-core"
import { chromium } from "../../scripts/setup/chromium.ts"
import { base } from "../address.ts"

const built = path.resolve(import.meta.dirname, "../dist")

const slugs = ["", "install/", "own-pool/", "lab/first-hour/", "api/core/workerpool/"]
const screens = { desktop: { width: 1280, height: 800 }, phone: { width: 375, height: 700 } }
const themes = ["light", "dark"] as const

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml"
}

const serve = async () => {
  const server = http.createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://localhost")
    const file = path.join(built, pathname.slice(base.length).replace(/\/$/, "/index.html"))
    if (!fs.existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { "content-type": types[path.extname(file)] ?? "application/octet-stream" })
    return response.end(fs.readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}/`, stop: () => server.close() }
}

/** Runs before the scripts of a page. Stores the brightness of its background in the first frame that has a body. */
const watch = () => {
  const look = () => {
    if (document.body === null) return requestAnimationFrame(look)
    const [red = 0, green = 0, blue = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)!.map(Number)
    return Object.assign(window, { brightness: (red + green + blue) / 3 })
  }
  requestAnimationFrame(look)
}

/** Runs in the page. Returns the faults of its layout, and the number of its tables that scroll. */
const inspect = () => {
  const faults: Array<string> = []
  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth) faults.push("The page scrolls sideways.")
  for (const button of document.querySelectorAll(".expressive-code .copy button")) {
    const code = button.closest(".frame")!.querySelector("pre > code")!
    if (code.getBoundingClientRect().right > button.getBoundingClientRect().left + 1)
      faults.push(`A copy button covers the code ${code.textContent.slice(0, 40)}`)
  }
  let scrolling = 0
  for (const table of document.querySelectorAll("main table")) {
    if (table.getBoundingClientRect().right > root.clientWidth + 1) faults.push("A table is wider than the page.")
    if (table.scrollWidth <= table.clientWidth) continue
    if (getComputedStyle(table).overflowX === "auto") scrolling += 1
    else faults.push("A table is cut off.")
  }
  return { faults, scrolling, brightness: (window as unknown as { readonly brightness: number }).brightness }
}

type Theme = (typeof themes)[number]

const look = async (browser: Browser, address: string, screen: keyof typeof screens, colorScheme: Theme) => {
  const page = await browser.newPage({ viewport: screens[screen], colorScheme })
  try {
    await page.addInitScript(watch)
    await page.goto(address)
    const { brightness, faults, scrolling } = await page.evaluate(inspect)
    const isRight = colorScheme === "light" ? brightness > 230 : brightness < 40
    if (!isRight) faults.push(`The first paint has a background of brightness ${brightness}.`)
    return { faults, scrolling }
  } finally {
    await page.close()
  }
}

/** Returns the text that a recording shows in its first frame. */
const firstFrame = async (browser: Browser, address: string, reducedMotion: "reduce" | "no-preference") => {
  const page = await browser.newPage({ reducedMotion })
  try {
    await page.goto(address)
    return await page.evaluate(() => {
      for (const animation of document.getAnimations()) {
        animation.pause()
        animation.currentTime = 0
      }
      const texts = [...document.querySelectorAll("text")]
      const shown = texts.filter((text) => text.checkVisibility({ visibilityProperty: true }))
      return shown.map(({ textContent }) => textContent).join("\n")
    })
  } finally {
    await page.close()
  }
}

/** Returns the number of checks, and the faults. Checks nothing if there is no Chromium. */
export const check = async () => {
  const executablePath = chromium()
  if (executablePath === undefined) {
    process.stderr.write("The pages were not opened, since there is no Chromium; set DIVISI_CHROMIUM to one.\n")
    return { checks: 0, problems: [] }
  }
  const { address, stop } = await serve()
  const browser = await driver.launch({ executablePath, args: ["--no-sandbox"] })
  const problems: Array<string> = []
  const scrolling = { desktop: 0, phone: 0 }
  try {
    for (const slug of slugs)
      for (const screen of ["desktop", "phone"] as const)
        for (const theme of themes) {
          const found = await look(browser, `${address}${slug}`, screen, theme)
          scrolling[screen] += found.scrolling
          problems.push(...found.faults.map((fault) => `/${slug} (${screen}, ${theme}): ${fault}`))
        }
    if (scrolling.phone === 0) problems.push("No table of these pages scrolls on a phone.")
    const recording = `${address}files/recordings/run.svg`
    const still = await firstFrame(browser, recording, "reduce")
    const moving = await firstFrame(browser, recording, "no-preference")
    if (moving !== still || !/answered/.test(still)) problems.push(`run.svg begins with ${JSON.stringify(moving)}.`)
  } finally {
    await browser.close()
    stop()
  }
  return { checks: slugs.length * 4 + 2, problems }
}

/** Pages of a browser for the checks of the studio, and the turns of costly combinations. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { quarter } from "../quarter.ts"

/** Opens a page of a desktop. Checks use one page for many addresses, because each page starts a process. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Page> => {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    ...options
  })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  return page
}

/** Whether the combination at an index is checked. */
export type Turn = (index: number) => boolean

export const always: Turn = () => true

/** The turn of every other combination; those of the next commit may be the others. */
export const everyOther: Turn = (index) => (index + quarter()) % 2 === 0

/**
 * Describes a page of the studio as text, and finds faults of its layout. Pictures differ between machines with other
 * fonts, so the description has no pixels: it lists the visible parts in document order, with their horizontal extent,
 * texts and colour tokens. Both themes must have the same description.
 */
import fs from "node:fs"
import path from "node:path"
import type { Page } from "playwright-core"
import { root } from "../setup/workspace.mjs"

/** A part of a page: its description, and the tokens that have its colour in the current theme. */
interface Part {
  readonly text: string
  readonly colors?: ReadonlyArray<string>
}

/** Runs in the page. Returns its parts, and the faults of its layout. */
const describe = (): { readonly parts: ReadonlyArray<Part>; readonly faults: ReadonlyArray<string> } => {
  const parts: Array<Part> = []
  const faults: Array<string> = []
  const root = getComputedStyle(document.documentElement)
  const probe = document.body.appendChild(document.createElement("i"))
  const colors = new Map<string, Array<string>>()
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  const names = rules.flatMap((rule) =>
    rule instanceof CSSStyleRule && rule.selectorText === ":root"
      ? [...rule.style].filter((at) => at.startsWith("--"))
      : []
  )
  for (const name of names) {
    if (!CSS.supports("color", root.getPropertyValue(name))) continue
    probe.style.color = `var(${name})`
    const color = getComputedStyle(probe).color
    colors.set(color, [...(colors.get(color) ?? []), name.slice(2)])
  }
  probe.remove()

  const structural = "header, nav, main, section, aside, footer, form, dl, table, [role=table], svg, dialog"
  const isSeen = (element: Element): boolean => {
    const { height, width } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  const ownText = (element: Element): boolean =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim() !== "")
  const textOf = (element: Element): string => {
    const text = element.textContent
      .slice(0, 1_000)
      .replace(/\s+/g, " ")
      .trim()
      .replace(/[\d.,]+\s(d|h|min)(\s\d+\s(min|s))?(?=\b|\d)|\d[\d.,]*\s(ms|s)(?=\b|[a-z]+:)/g, "TIME")
      .replace(/\d+ [A-Z]\w\w \d{4}(, [\d:]+ UTC)?|\d{4}-\d\d-\d\d|TIME ago/g, "DATE")
      .replace(/\b[\da-f]{8}-[\da-f-]+/g, "ID")
      .replace(/127\.0\.0\.1:\d+/g, "ADDRESS")
    return text.length > 100 ? `${text.slice(0, 99)}…` : text
  }
  const colorsOf = (element: Element): ReadonlyArray<string> => {
    const style = getComputedStyle(element)
    return colors.get(element instanceof SVGElement ? style.fill : style.color) ?? []
  }
  const extentOf = (element: Element): string => {
    const { left, width } = element.getBoundingClientRect()
    return `${Math.round(left + scrollX)}+${Math.round(width)}`
  }
  const nameOf = (element: Element): string => {
    const label = element.getAttribute("aria-label")
    const tag = element.getAttribute("role") ?? element.tagName.toLowerCase()
    return label === null ? tag : `${tag} "${textOf({ textContent: label } as Element)}"`
  }
  const visit = (element: Element, depth: number): void => {
    if (!isSeen(element)) return
    const write = (text: string, more: Omit<Part, "text"> = {}) =>
      void parts.push({ text: `${"  ".repeat(depth)}${text}`, ...more })
    if (element.matches("tr, [role=row]")) {
      const cells = [...element.children].filter(isSeen).map(textOf)
      const index = [...element.parentElement!.children].indexOf(element)
      if (index < 3) write(`| ${cells.join(" | ")}`)
      else if (index === 3) write(`| … ${element.parentElement!.children.length} rows`)
      return
    }
    if (element.matches("input, select, textarea")) {
      const label = (element as HTMLInputElement).labels?.[0]
      write(
        `${element.tagName.toLowerCase()} "${label ? textOf(label.querySelector("span") ?? label) : nameOf(element)}"`
      )
      return
    }
    if (element.matches("svg[aria-hidden=true]") && element.getBoundingClientRect().width < 40) return
    if (ownText(element) && !element.matches(structural)) {
      write(`${element.tagName.toLowerCase()} "${textOf(element)}"`, { colors: colorsOf(element) })
      return
    }
    const isPart = element.matches(structural)
    // The widths of these depend on the font.
    if (isPart) write(element.matches("dl, table") ? nameOf(element) : `${nameOf(element)} ${extentOf(element)}`)
    for (const child of element.children) visit(child, depth + (isPart ? 1 : 0))
  }
  visit(document.body, 0)

  // Faults that no page may have, whatever its content.
  if (document.documentElement.scrollWidth > innerWidth + 1) faults.push("The page scrolls sideways.")
  interface Box {
    readonly text: string
    readonly element: Element
    readonly left: number
    readonly right: number
    readonly top: number
    readonly bottom: number
    /** The closest ancestor that is drawn above other parts or scrolls alone. */
    readonly layer: Element
  }
  const boxes: Array<Box> = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement!
    const text = node.textContent!.replace(/\s+/g, " ").trim()
    if (text === "" || !isSeen(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) {
      let { bottom, left, right, top } = rect
      let layer: Element = document.body
      for (let at: Element | null = element; at !== null && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at)
        if (layer === document.body && /sticky|fixed/.test(style.position)) layer = at
        if (style.overflowX === "visible" || style.display === "inline") continue
        const clip = at.getBoundingClientRect()
        if (clip.width <= 1) left = right
        left = Math.max(left, clip.left)
        right = Math.min(right, clip.right)
        top = Math.max(top, clip.top)
        bottom = Math.min(bottom, clip.bottom)
      }
      if (right - left < 3 || bottom - top < 3) continue
      boxes.push({ text: text.slice(0, 60), element, left, right, top, bottom, layer })
    }
    for (const [found] of text.matchAll(
      /\bNaN\b|\bundefined\b|\bInfinity\b|\[object |(?<![\d.,−-])\b1\s(?!(?:was|is|has|does|needs|ms)\b)[a-z]+s\b/g
    ))
      faults.push(`"${text.slice(0, 80)}" contains "${found}".`)
  }
  boxes.sort((one, other) => one.top - other.top)
  for (const [index, one] of boxes.entries())
    for (let at = index + 1; at < boxes.length && boxes[at]!.top < one.bottom - 3; at += 1) {
      const other = boxes[at]!
      if (one.layer !== other.layer || one.element === other.element) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - other.top
      if (width > 2 && height > 4) faults.push(`"${one.text}" and "${other.text}" overlap.`)
    }
  return { parts, faults: [...new Set(faults)] }
}

/** Returns the faults of a page's layout. */
export const faultsOf = async (page: Page): Promise<ReadonlyArray<string>> => (await page.evaluate(describe)).faults

/** Waits until a page looks the same twice. On a busy machine, charts get their widths some frames after the data. */
export const settled = async (page: Page): Promise<void> => {
  let before: string | undefined
  for (let tries = 0; tries < 50; tries += 1) {
    const now = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll("body *")].map((element) => element.getBoundingClientRect())
      return JSON.stringify([boxes, document.body.textContent])
    })
    if (now === before) return
    before = now
    await page.waitForTimeout(100)
  }
}

/** Describes a page in both themes, one line per part. */
export const describeThemes = async (page: Page): Promise<ReadonlyArray<string>> => {
  const [light, dark] = [await inTheme(page, "light"), await inTheme(page, "dark")]
  return light.map(({ colors, text }, index) => {
    const other = dark[index]
    if (other?.text !== text) return `${text}, in the dark theme: ${other?.text.trim() ?? "nothing"}`
    return colors === undefined ? text : `${text} ${colors.find((name) => other.colors?.includes(name)) ?? "mixed"}`
  })
}

const inTheme = async (page: Page, colorScheme: "light" | "dark"): Promise<ReadonlyArray<Part>> => {
  await page.emulateMedia({ colorScheme })
  return (await page.evaluate(describe)).parts
}

const folder = path.join(root, "packages/studio/test/looks")

/** Whether the descriptions are written instead of compared. Nothing else is checked then. */
export const isWriting = process.env.DIVISI_LOOKS === "write"

const extent = / (-?\d+)\+(\d+)$/

/** Maximum difference of an extent in pixels. Texts have other widths in other fonts. */
const tolerance = 24

/** Whether a line is the recorded one, with extents that may differ slightly. */
const isSame = (line: string, recorded: string): boolean => {
  const [one, other] = [extent.exec(line), extent.exec(recorded)]
  if (one === null || other === null) return line === recorded
  const isNear = [1, 2].every((at) => Math.abs(Number(one[at]) - Number(other[at])) <= tolerance)
  return isNear && line.replace(extent, "") === recorded.replace(extent, "")
}

/** Returns the index of the first line that is not as recorded. */
const firstDifference = (lines: ReadonlyArray<string>, recorded: ReadonlyArray<string>): number | undefined =>
  Array.from({ length: Math.max(lines.length, recorded.length) }, (_, index) => index).find(
    (index) => !isSame(lines[index] ?? "(the end)", recorded[index] ?? "(the end)")
  )

/** Returns the first difference between a page and its recorded description, if there is one. */
export const differences = (name: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const file = path.join(folder, `${name}.txt`)
  const recorded = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : []
  const at = firstDifference(lines, recorded)
  if (at === undefined) return []
  if (isWriting) {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(file, `${lines.join("\n")}\n`)
    return []
  }
  const [found, expected] = [lines[at] ?? "(the end)", recorded[at] ?? "(the end)"]
  return [
    `${path.relative(root, file)}:${at + 1}: expected ${expected.trim()}; found ${found.trim()}. ` +
      "To accept the page after looking at it: pnpm studio:looks."
  ]
}

/** Faults that are planted in a page to prove that they are found, as rules of a style sheet. */
const planted: Readonly<Record<string, string>> = {
  "a hidden panel": '[aria-label="Waterfall"] { display: none }',
  "overlapping labels": ".stats dd { margin-top: -20px }",
  "a lost column": ".table tr > :last-child { display: none }",
  "a colour outside of the palette": "h1 { color: rgb(1 2 3) !important }",
  "a page that is too wide": "body { width: 120vw }"
}

/** Returns the planted faults that are not found in a page. It must have a table. */
export const missedFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  const before = await describeThemes(page)
  const missed: Array<string> = []
  for (const [name, rule] of Object.entries(planted)) {
    await page.evaluate(
      (rule) => document.styleSheets[0]!.insertRule(rule, document.styleSheets[0]!.cssRules.length),
      rule
    )
    const isFound =
      (await faultsOf(page)).length > 0 || firstDifference(await describeThemes(page), before) !== undefined
    if (!isFound) missed.push(`The check of layouts does not find ${name}.`)
    await page.evaluate(() => document.styleSheets[0]!.deleteRule(document.styleSheets[0]!.cssRules.length - 1))
  }
  return missed
}

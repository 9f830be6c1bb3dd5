/**
 * Looks at the site that was built: every page is there, no link is dead, search finds every page, `llms.txt` lists
 * every guide, and nothing is loaded from elsewhere. Then opens some pages in a browser. The last line is `N passed, N
 * failed`.
 */
import fs from "node:fs"
import path from "node:path"
import { base, site } from "../address.ts"
import * as Look from "./look.ts"

const here = path.resolve(import.meta.dirname, "..")
const built = path.join(here, "dist")
const problems: Array<string> = []

const files = (folder: string, ending: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.split(path.sep).join("/"))

const slugs = files(path.join(here, "src/content/docs"), ".md")
  .map((file) => file.replace(/\.md$/, ""))
  .filter((slug) => slug !== "index")
const pages = new Map(
  files(built, ".html").map((file) => [file, fs.readFileSync(path.join(built, file), "utf8")] as const)
)

for (const slug of slugs) if (!pages.has(`${slug}/index.html`)) problems.push(`There is no page ${slug}.`)

const idsOf = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!))
const ids = new Map([...pages].map(([file, html]) => [file, idsOf(html)]))
const decode = (text: string) => decodeURIComponent(text.replaceAll("&amp;", "&").replaceAll("&#38;", "&"))

/** What is wrong with a link, if something is. */
const problemOf = (file: string, link: string): string | undefined => {
  if (/^(https?|mailto|data):/.test(link) && !link.startsWith(`${site}${base}/`)) return undefined
  const url = new URL(decode(link), `${site}${base}/${file}`)
  if (!url.pathname.startsWith(`${base}/`)) return "leaves the site"
  // Its own address, which servers answer for any other.
  if (file === "404.html" && url.pathname === `${base}/404/`) return undefined
  const target = url.pathname.slice(base.length + 1)
  const page = target === "" || target.endsWith("/") ? `${target}index.html` : target
  if (!fs.existsSync(path.join(built, page))) return "leads nowhere"
  const hash = decode(url.hash.slice(1))
  return hash === "" || ids.get(page)?.has(hash) ? undefined : "leads to a heading that is not there"
}

let links = 0
for (const [file, html] of pages) {
  const found = new Set(
    [...html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]+)"/g)].map(([, link]) => link!)
  )
  for (const link of found) {
    links += 1
    const problem = problemOf(file, link)
    if (problem !== undefined) problems.push(`${file}: the link ${link} ${problem}.`)
  }
  const foreign = /<(?:script|img|iframe)\b[^>]*\ssrc="(https?:[^"]+)"/.exec(html)?.[1]
  if (foreign !== undefined) problems.push(`${file} loads ${foreign}.`)
}

const index = JSON.parse(fs.readFileSync(path.join(built, "pagefind/pagefind-entry.json"), "utf8"))
const searched: number = index.languages.en?.page_count ?? 0
if (searched < slugs.length) problems.push(`Search knows ${searched} of ${slugs.length} pages.`)

const list = fs.readFileSync(path.join(built, "llms.txt"), "utf8")
const whole = fs.readFileSync(path.join(built, "llms-full.txt"), "utf8")
for (const slug of slugs) {
  if (!list.includes(`(${site}${base}/${slug}/)`)) problems.push(`llms.txt does not list ${slug}.`)
  if (!slug.startsWith("api/") && !whole.includes(`Source: ${site}${base}/${slug}/\n`))
    problems.push(`llms-full.txt lacks ${slug}.`)
}

const looked = await Look.check()
problems.push(...looked.problems)

for (const problem of problems) process.stdout.write(`${problem}\n`)
process.stdout.write(`${pages.size} pages, ${links} links, ${searched} pages in the search index\n`)
process.stdout.write(`${slugs.length + looked.checks} passed, ${problems.length} failed\n`)
process.exitCode = problems.length === 0 ? 0 : 1

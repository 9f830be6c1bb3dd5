/**
 * Makes the site's pages of those of the repository, as they are: `docs`, the packages' and examples' READMEs, and the
 * reference of the API. A page's first heading becomes its title, and links lead to pages of the site where there are.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { base, repository, site } from "../address.ts"
import { modules, write } from "./reference.ts"

const root = path.resolve(import.meta.dirname, "../..")
const here = path.resolve(import.meta.dirname, "..")
const pagesFolder = path.join(here, "src/content/docs")
const filesFolder = path.join(here, "public/files")

export interface Page {
  /** Its path on the site, such as `decisions/0001-workspace`. */
  readonly slug: string
  /** Where its text is written: a file of the repository, if it is one. */
  readonly source: string
  readonly title: string
  /** Its first paragraph, without marks. */
  readonly description: string
  /** The text behind its title. */
  readonly text: string
}

const list = (folder: string): ReadonlyArray<string> =>
  fs.readdirSync(path.join(root, folder)).map((name) => path.posix.join(folder, name))

const slugOf = (file: string): string =>
  file
    .replace(/^docs\//, "")
    .replace(/(\/README)?\.md$/, "")
    .toLowerCase()

/** The files of the repository that are pages. */
const files = (): ReadonlyArray<string> =>
  [
    ...list("docs"),
    ...list("docs/contributing"),
    ...list("docs/decisions"),
    ...list("docs/reference"),
    ...list("docs/lab"),
    ...[...list("packages"), ...list("examples")].map((folder) => `${folder}/README.md`),
    "CONTRIBUTING.md",
    "SECURITY.md"
  ].filter((file) => file.endsWith(".md") && fs.existsSync(path.join(root, file)))

const plain = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]/g, "")
    .replace(/\s+/g, " ")
    .trim()

/** The first sentences of a page, at most 200 characters of them. */
const descriptionOf = (text: string): string => {
  const paragraph = text.split(/\n\n+/).find((part) => /^[A-Z`*[]/.test(part.trim()) && !/^(Defined in|Re)/.test(part))
  const sentences = plain(paragraph ?? "").match(/.+?[.:?!](?=\s|$)/g) ?? []
  let said = ""
  for (const sentence of sentences) {
    if (said !== "" && said.length + sentence.length > 200) break
    said += sentence
  }
  return said.replace(/:$/, ".")
}

const page = (source: string, slug: string, markdown: string, title?: string): Page => {
  const heading = /^# (.+)\n/m.exec(markdown)
  if (heading === null) throw new Error(`${source} has no title: its first line should be "# …".`)
  const text = markdown
    .slice(heading.index + heading[0].length)
    .trim()
    // TypeDoc gives a heading to each module that an index names.
    .replace(/### (\w+)\n\nRe(?:names and re-)?[- ]?exports \[[^\]]*\]\(([^)]*)\)\n?(\n\*\*\*\n)?/g, "- [$1]($2)")
    .replace(/^## References$/m, "## Modules")
  return {
    source,
    slug,
    title: title ?? plain(heading[1]!),
    description: descriptionOf(text) || `What ${title ?? heading[1]} exports.`,
    text: `${text}\n`
  }
}

/** The pages of the API's reference. Their sources lie in a folder that is gone afterwards. */
const reference = async (): Promise<ReadonlyArray<Page>> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-reference-"))
  try {
    await write(root, folder)
    const names = new Map(modules(root).map(({ file, name }) => [file, name]))
    const written = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.md$/.test(file))
    const pathOf = (name: string) => `api/${name.replace("@divisi/", "").toLowerCase()}`
    const taken = new Set([...names.values()].map(pathOf))
    return written
      .map((file) => file.split(path.sep).join("/"))
      .filter((file) => file !== "README.md")
      .map((file) => {
        const text = fs.readFileSync(path.join(folder, file), "utf8")
        const [owner = "", ...namespaces] = file.replace(/(\/README)?\.md$/, "").split("/namespaces/")
        const module = names.get(/^packages\/[^/]+\/src$/.test(owner) ? `${owner}/index.ts` : `${owner}.ts`)
        if (module === undefined) throw new Error(`No package exports ${owner}.`)
        if (namespaces.length === 0) return page(file, pathOf(module), text, module)
        // TypeDoc numbers a namespace that has the name of a type in it.
        const name = [module, ...namespaces.map((one) => one.replace(/-\d+$/, ""))].join("/")
        return page(file, taken.has(pathOf(name)) ? `${pathOf(name)}-namespace` : pathOf(name), text, name)
      })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Does something with each line that stands in no fenced block. */
const outsideOfCode = (text: string, change: (line: string) => string): string => {
  let fence: string | undefined
  return text
    .split("\n")
    .map((line) => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
      if (mark !== undefined && (fence === undefined || line.trim() === fence))
        fence = fence === undefined ? mark : undefined
      return fence === undefined ? change(line) : line
    })
    .join("\n")
}

/** What a link of a page leads to, on the site or at the repository. Files beside pages are copied. */
const linkOf = (from: string, link: string, slugs: ReadonlyMap<string, string>): string => {
  if (/^([a-z]+:|#|\/)/.test(link)) return link
  const [target = "", hash] = link.split("#")
  const behind = hash === undefined ? "" : `#${hash}`
  const file = path.posix.join(path.posix.dirname(from), target).replace(/\/$/, "")
  if (file === "README.md") return `${base}/`
  const slug = slugs.get(file) ?? slugs.get(`${file}/README.md`)
  if (slug !== undefined) return `${base}/${slug}/${behind}`
  const found = path.join(root, file)
  if (!fs.existsSync(found)) throw new Error(`${from} links to ${link}, which is not there.`)
  const isFolder = fs.statSync(found).isDirectory()
  if (isFolder || !/^docs\//.test(file)) return `${repository}/${isFolder ? "tree" : "blob"}/main/${file}${behind}`
  const copy = path.join(filesFolder, file.replace(/^docs\//, ""))
  fs.mkdirSync(path.dirname(copy), { recursive: true })
  fs.copyFileSync(found, copy)
  return `${base}/files/${file.replace(/^docs\//, "")}`
}

const withLinks = ({ source, text }: Page, slugs: ReadonlyMap<string, string>): string =>
  outsideOfCode(text, (line) =>
    line.replace(/(`[^`]*`)|(\]\()([^)\s]+)(\))/g, (whole, code, before, link, after) =>
      code === undefined ? `${before}${linkOf(source, link, slugs)}${after}` : whole
    )
  )

const frontMatter = ({ description, slug, source, title }: Page): string => {
  const isReference = slug.startsWith("api/")
  const label = title.replace(/^@divisi\//, "").replace(/^[^/]+\/(?=.)/, "")
  const fields = {
    title,
    description,
    slug,
    editUrl: isReference ? false : `${repository}/edit/main/${source}`,
    sidebar: isReference || slug.startsWith("packages/") ? { label } : undefined,
    // A reference has its headings by the hundred.
    tableOfContents: isReference ? { minHeadingLevel: 2, maxHeadingLevel: 3 } : undefined
  }
  const lines = Object.entries(fields).filter(([, value]) => value !== undefined)
  return `---\n${lines.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join("\n")}\n---\n\n`
}

/** The pages for readers that are programs: what there is, and all of it in one text. */
const forPrograms = (pages: ReadonlyArray<Page>) => {
  const intro =
    "# Divisi\n\n> An open, self-hosted Conductor in TypeScript: a policy writes a team plan for each question, and a pool of any models carries it out.\n"
  const line = ({ description, slug, title }: Page) => `- [${title}](${site}${base}/${slug}/): ${description}`
  const section = (name: string, of: (slug: string) => boolean) =>
    `\n## ${name}\n\n${pages
      .filter(({ slug }) => of(slug))
      .map(line)
      .join("\n")}\n`
  const isGuide = (slug: string) => !/^(packages|examples|decisions|reference|lab|api)\//.test(slug)
  const isReference = (slug: string) => slug.startsWith("api/")
  const sections = [
    section("Guides", isGuide),
    ...["reference", "packages", "examples", "decisions", "lab"].map((folder) =>
      section(folder[0]!.toUpperCase() + folder.slice(1), (slug) => slug.startsWith(`${folder}/`))
    ),
    section("API", isReference)
  ]
  fs.writeFileSync(path.join(here, "public/llms.txt"), intro + sections.join(""))
  const whole = pages
    .filter(({ slug }) => !isReference(slug))
    .map(({ slug, text, title }) => `\n# ${title}\n\nSource: ${site}${base}/${slug}/\n\n${text}`)
  fs.writeFileSync(path.join(here, "public/llms-full.txt"), intro + whole.join(""))
}

const pages = [
  ...files().map((file) => page(file, slugOf(file), fs.readFileSync(path.join(root, file), "utf8"))),
  ...(await reference())
]
const slugs = new Map(pages.map(({ slug, source }) => [source, slug]))
const twice = [...slugs].filter(([source, slug]) =>
  [...slugs].some(([other, same]) => same === slug && other !== source)
)
if (twice.length > 0) throw new Error(`Pages have the same path: ${twice.join("; ")}.`)

for (const name of fs.readdirSync(pagesFolder).filter((name) => name !== "index.md"))
  fs.rmSync(path.join(pagesFolder, name), { recursive: true })
fs.rmSync(filesFolder, { recursive: true, force: true })
for (const one of pages) {
  const file = path.join(pagesFolder, `${one.slug}.md`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, frontMatter(one) + withLinks(one, slugs))
}
for (const picture of ["recordings/run.svg"]) linkOf("docs/index.md", picture, slugs)
forPrograms(pages)
process.stdout.write(`${pages.length} pages\n`)

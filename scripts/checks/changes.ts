/**
 * Checks that each change to the sources of a published package has a changeset that names the package, in the same or
 * a later commit. Commits whose subject starts with `refactor`, `test`, `docs`, `style`, `chore`, `build` or `ci` need
 * no changeset.
 *
 * `changeset status` compares with `main`, so it never fails on `main`. This check reads the history since the last
 * release tag (or all of it before the first release), so it requires a complete clone.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { packages, root as workspace } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

/** A commit, or the uncommitted changes. */
interface Change {
  readonly commit: string | undefined
  readonly subject: string
  readonly files: ReadonlyArray<string>
}

interface Package {
  readonly name: string
  /** Path relative to the root, with forward slashes. */
  readonly folder: string
}

const internal = /^(?:refactor|test|docs|style|chore|build|ci)(?:\([^)]*\))?!?:/

const paths = [":(glob)packages/*/src/**", ".changeset"]

const git = (root: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "pipe"] })

/** The tag of the last release, if there was one. */
const lastRelease = (root: string): string | undefined => {
  try {
    return git(root, "describe", "--tags", "--abbrev=0", "--match=@divisi/*@*").trim()
  } catch {
    return undefined
  }
}

/** Returns the changes, newest first. */
const changesOf = (root: string): ReadonlyArray<Change> => {
  const release = lastRelease(root)
  const range = release === undefined ? ["HEAD"] : [`${release}..HEAD`]
  const options = ["--topo-order", "--no-renames", "--name-only", "--diff-filter=d", "--format=%x00%h%x01%s"]
  const committed = git(root, "-c", "core.quotePath=off", "log", ...options, ...range, "--", ...paths)
  const commits = committed
    .split("\0")
    .slice(1)
    .map((entry) => {
      const [head = "", ...files] = entry.split("\n").filter(Boolean)
      const [commit = "", subject = ""] = head.split("\u0001")
      return { commit, subject, files }
    })
  const edited = git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--", ...paths)
  const files = edited
    .split("\0")
    .filter((line) => line !== "" && !line.slice(0, 2).includes("D"))
    .map((line) => line.slice(3))
  return [{ commit: undefined, subject: "", files }, ...commits]
}

/** Returns the text of a file in a commit, or in the working tree. */
const textOf = (root: string, commit: string | undefined, file: string): string =>
  commit === undefined ? fs.readFileSync(path.join(root, file), "utf8") : git(root, "show", `${commit}:${file}`)

/** Returns the packages named in a changeset's front matter. */
export const namesIn = (changeset: string): ReadonlyArray<string> => {
  const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(changeset)?.[1] ?? ""
  return [...front.matchAll(/^["']?(@?[\w./-]+)["']?\s*:/gm)].map(([, name = ""]) => name)
}

/** Returns a message for each package whose latest changes have no changeset. */
export const missing = (root: string, published: ReadonlyArray<Package>): ReadonlyArray<string> => {
  const described = new Set<string>()
  const problems = new Map<string, string>()
  for (const { commit, files, subject } of changesOf(root)) {
    for (const file of files) {
      if (!/^\.changeset\/(?!README\.md$)[^/]+\.md$/.test(file)) continue
      for (const name of namesIn(textOf(root, commit, file))) described.add(name)
    }
    if (internal.test(subject)) continue
    for (const { folder, name } of published) {
      const file = files.find((file) => file.startsWith(`${folder}/src/`))
      if (file === undefined || described.has(name) || problems.has(name)) continue
      const where = commit === undefined ? `${file} (not committed)` : `${file} (${commit} ${subject})`
      problems.set(name, `${where}: ${name} changed without a changeset. Write one with: pnpm changeset`)
    }
    if (published.every(({ name }) => described.has(name) || problems.has(name))) break
  }
  return [...problems.values()]
}

export const check = (): Report => {
  const published = packages()
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({
      name: manifest.name,
      folder: path.relative(workspace, folder).replaceAll(path.sep, "/")
    }))
  const problems = missing(workspace, published)
  return { passed: published.length - problems.length, problems }
}

/**
 * Makes the pictures of the pages from real runs: `node site/scripts/pictures.ts` in the root, or with names of some of
 * them (`recording`, `studio`, `tools`, `durable`, `training`, `evaluation`). Screenshots need an installed Chromium.
 */
import { execFileSync, spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"

const root = path.resolve(import.meta.dirname, "../..")

const node = (...args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, ["--conditions=@divisi/source", ...args], { cwd: root, encoding: "utf8" })

const divisi = (...args: ReadonlyArray<string>): string => node("packages/cli/src/main.ts", ...args)

const browser = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0
)

interface Window {
  readonly width: number
  readonly height: number
  readonly scale?: number
  readonly theme?: "light" | "dark"
}

/** The upper part of a page, as a window of this size shows it. */
const photograph = (page: string, picture: string, { height, scale = 1, theme = "light", width }: Window) => {
  if (browser === undefined) throw new Error("There is no Chromium here to photograph pages with.")
  const flags = [
    "--headless",
    "--no-sandbox",
    "--hide-scrollbars",
    "--virtual-time-budget=3000",
    `--blink-settings=preferredColorScheme=${theme === "dark" ? 0 : 1}`
  ]
  const size = [`--window-size=${width},${height}`, `--force-device-scale-factor=${scale}`]
  execFileSync(browser, [...flags, ...size, `--screenshot=${picture}`, `file://${page}`], { stdio: "ignore" })
  process.stdout.write(`${path.relative(root, picture)}\n`)
}

const photographs = (page: string, folder: string) => {
  fs.mkdirSync(folder, { recursive: true })
  photograph(page, path.join(folder, "desktop.png"), { width: 1200, height: 1800 })
  photograph(page, path.join(folder, "phone.png"), { width: 390, height: 1800, scale: 1.5 })
}

const pictures: Readonly<Record<string, () => void>> = {
  /** The run of the README, whose first two steps run at once. */
  recording: () => {
    const events = path.join(root, "docs/recordings/run.ndjson")
    fs.writeFileSync(events, divisi("run", "--json"))
    const picture = "docs/recordings/run.svg"
    process.stdout.write(node("packages/cli/scripts/recording.ts", events, picture, "divisi run"))
    node("packages/studio/scripts/app.ts")
    process.stdout.write(divisi("studio", events, "--export", "docs/recordings/run.html"))
  },
  /** The exported page of the README's run, in both themes. */
  studio: () => {
    const page = path.join(root, "docs/recordings/run.html")
    for (const theme of ["light", "dark"] as const) {
      const picture = path.join(root, `docs/recordings/studio-${theme}.png`)
      photograph(page, picture, { width: 1280, height: 800, theme })
    }
  },
  /** A run with the tools of an MCP server, on a pseudo-terminal. */
  tools: () => {
    process.stdout.write(node("packages/cli/scripts/tools.ts", "docs/recordings"))
  },
  /** A run that is stopped with Ctrl-C and gone on with, on a pseudo-terminal. */
  durable: () => {
    process.stdout.write(node("packages/cli/scripts/durable.ts", "docs/recordings"))
  },
  /** The page of a training that takes seconds. */
  training: () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
    const run = path.join(folder, "toy")
    const page = path.join(folder, "report.html")
    divisi("train", "--recipe", "toy", "--out", run)
    divisi("train", "report", run, "--out", page)
    photographs(page, path.join(root, "docs/training-example"))
    fs.rmSync(folder, { recursive: true })
  },
  /** The example of an evaluation's page, which a command of its own writes. */
  evaluation: () => {
    const folder = path.join(root, "docs/evals-example")
    photographs(path.join(folder, "report.html"), folder)
  }
}

const asked = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pictures)
for (const name of asked) pictures[name]?.()

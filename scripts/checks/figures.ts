/**
 * Compares figures on pages with the output of the command named beside them: the text between
 * `<!-- figures: COMMAND -->` and `<!-- /figures -->`. The command must print the same figures on every machine. Commands
 * that take half a minute or more are marked `long figures`; CI does not run them.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

const place = /<!-- (figures|long figures): (.+?) -->\n([\s\S]*?)\n<!-- \/figures -->/g

/** Normalizes spaces and the lengths of table rules, which are not compared. */
const plain = (text: string): string => text.replace(/ +/g, " ").replace(/-{3,}/g, "---").trim()

const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n")

const differs = (command: string, written: string): boolean => {
  const [program = "", ...args] = command.split(" ")
  const printed = execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  return plain(printed) !== plain(written)
}

const checkOf = (kind: "figures" | "long figures"): Report => {
  const problems: Array<string> = []
  let passed = 0
  for (const page of pages) {
    for (const [, marked, command = "", written = ""] of fs
      .readFileSync(path.join(root, page), "utf8")
      .matchAll(place)) {
      if (marked !== kind) continue
      if (differs(command, written)) problems.push(`${page}: \`${command}\` prints other figures than the page has.`)
      else passed += 1
    }
  }
  return { passed, problems }
}

/** Runs the commands of all `figures`. */
export const check = (): Report => checkOf("figures")

/** Runs the commands of all `long figures`. */
export const checkLong = (): Report => checkOf("long figures")

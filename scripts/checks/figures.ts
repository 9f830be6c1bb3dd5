/**
 * Figures on a page are those that the command beside them prints: between `<!-- figures: COMMAND -->` and
 * `<!-- /figures -->` stands its output. Only commands that take seconds and give the same figures everywhere have such a
 * place; others are named in the text.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

const place = /<!-- figures: (.+?) -->\n([\s\S]*?)\n<!-- \/figures -->/g

/** Spaces and the lengths of rules in tables are no figures. */
const plain = (text: string): string => text.replace(/ +/g, " ").replace(/-{3,}/g, "---").trim()

const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n")

const differs = (command: string, written: string): boolean => {
  const [program = "", ...args] = command.split(" ")
  const printed = execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  return plain(printed) !== plain(written)
}

/** Runs every command that a page names beside its figures. */
export const check = (): Report => {
  const problems: Array<string> = []
  let passed = 0
  for (const page of pages) {
    for (const [, command = "", written = ""] of fs.readFileSync(path.join(root, page), "utf8").matchAll(place)) {
      if (differs(command, written)) problems.push(`${page}: \`${command}\` prints other figures than the page has.`)
      else passed += 1
    }
  }
  return { passed, problems }
}

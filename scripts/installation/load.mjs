// Parses every file of the installed Divisi packages as a module with this Node, and loads every entry point.
import fs from "node:fs"
import path from "node:path"
import vm from "node:vm"

const scope = path.resolve("node_modules/@divisi")
let entries = 0
let files = 0
let failed = 0
const fail = (what, error) => {
  failed++
  console.error(`${what}: ${error.message}`)
}
for (const name of fs.readdirSync(scope)) {
  const folder = path.join(scope, name)
  for (const file of fs.readdirSync(folder, { recursive: true }).filter((file) => /^(bin|dist)\b.*\.js$/.test(file))) {
    files++
    try {
      new vm.SourceTextModule(fs.readFileSync(path.join(folder, file), "utf8"))
    } catch (error) {
      fail(`@divisi/${name}/${file}`, error)
    }
  }
  const { exports } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === "string") continue
    entries++
    const specifier = path.posix.join(`@divisi/${name}`, entry)
    try {
      await import(specifier)
    } catch (error) {
      fail(specifier, error)
    }
  }
}
console.log(`${files} files read, ${entries} entry points loaded with Node ${process.version}`)
process.exit(failed === 0 && files > 0 && entries > 0 ? 0 : 1)

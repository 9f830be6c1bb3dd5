import fs from "node:fs"
import { registerHooks } from "node:module"

const folder = new URL("../dist/effect/", import.meta.url)

/** The files in the bundle, by the URL of the module that they replace. */
const replaced = new Map()
for (const { modules, name, version } of JSON.parse(fs.readFileSync(new URL("modules.json", folder), "utf8"))) {
  const installed = new URL("../", import.meta.resolve(name))
  // Another version, such as one that a user forces, is loaded as it is.
  if (JSON.parse(fs.readFileSync(new URL("package.json", installed), "utf8")).version !== version) continue
  for (const module of modules) {
    replaced.set(new URL(`dist/${module}.js`, installed).href, new URL(`${name}/${module}.js`, folder).href)
  }
}

/** Results for each folder, specifier and kind of import. Node's own cache has one for each importing file. */
const results = new Map()

/**
 * Replaces modules of the Effect that this package depends on by those of its bundle, for all importers. One file is
 * loaded instead of 200, and configs and plugins share its modules.
 */
registerHooks({
  resolve: (specifier, context, next) => {
    const { conditions, parentURL = "" } = context
    const key = `${parentURL.slice(0, parentURL.lastIndexOf("/"))} ${specifier} ${conditions.join()}`
    const earlier = results.get(key)
    if (earlier !== undefined) return earlier
    const resolved = next(specifier, context)
    const result = { ...resolved, url: replaced.get(resolved.url) ?? resolved.url, shortCircuit: true }
    results.set(key, result)
    return result
  }
})

/**
 * Bundles the modules of Effect that a run loads into one file, `dist/effect/all.js`, and writes a file for each module
 * that exports its part of the bundle. Part of the build. `bin/effect.js` uses them.
 */
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"
import * as esbuild from "esbuild"

const home = path.resolve(import.meta.dirname, "..")
const out = path.join(home, "dist/effect")

/** Bundled packages, each with the folder of its modules. */
const bundled = ["effect", "@effect/platform-node-shared"].map((name) => ({
  name,
  folder: fs.realpathSync(path.join(home, "node_modules", name, "dist"))
}))

/** The bundled module that a file is, e.g. `effect/Effect`, or `undefined` for all other files. */
const moduleOf = (file: string): string | undefined => {
  const found = bundled.find(({ folder }) => file.startsWith(folder + path.sep))
  return found && `${found.name}/${path.relative(found.folder, file).split(path.sep).join("/").replace(/\.js$/, "")}`
}

const options = {
  absWorkingDir: home,
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  target: "node22",
  logLevel: "error"
} satisfies esbuild.BuildOptions

/** The files of Effect that `divisi run` loads before it loads others on demand. */
const loaded = async (): Promise<ReadonlyArray<string>> => {
  const { metafile } = await esbuild.build({
    ...options,
    entryPoints: ["src/main.ts", "src/run/command.ts", "src/run/Run.ts"],
    outdir: "dist",
    conditions: ["@divisi/source"],
    plugins: [
      {
        name: "on demand",
        setup: (build) =>
          build.onResolve({ filter: /./ }, ({ kind, path }) =>
            kind === "dynamic-import" ? { path, external: true } : undefined
          )
      }
    ]
  })
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  return [...new Set(inputs.map((input) => path.resolve(home, input)))].filter((file) => moduleOf(file) !== undefined)
}
/** A bundled module: its name, its file, and the names that it exports. */
interface Bundled {
  readonly name: string
  readonly file: string
  readonly exported: ReadonlyArray<string>
}

const read = async (file: string): Promise<Bundled> => ({
  name: moduleOf(file)!,
  file,
  exported: Object.keys(await import(pathToFileURL(file).href))
})

/** The name in the bundle of what a module exports. */
const renamed = ({ name }: Bundled, exported: string): string => `${name.replace(/\W/g, "_")}_${exported}`

/** Bundles modules with all that they export. */
const bundle = async (files: ReadonlyArray<string>) => {
  const modules = await Promise.all(files.map(read))
  const contents = modules.flatMap((module) =>
    module.exported.map((name) => `export { ${name} as ${renamed(module, name)} } from ${JSON.stringify(module.file)}`)
  )
  const { metafile, outputFiles } = await esbuild.build({
    ...options,
    stdin: { contents: contents.join("\n"), resolveDir: home },
    outfile: path.join(out, "all.js"),
    minifySyntax: true,
    minifyWhitespace: true
  })
  const inputs = Object.keys(metafile.inputs).map((input) => path.resolve(home, input))
  return { modules, text: outputFiles[0]!.text, inputs: inputs.filter((file) => moduleOf(file) !== undefined) }
}
/** Bundles the modules that a run loads, and all that they import: no module may exist twice. */
const whole = async (files: ReadonlyArray<string>): Promise<Awaited<ReturnType<typeof bundle>>> => {
  const bundled = await bundle(files)
  return bundled.inputs.length === files.length ? bundled : whole(bundled.inputs)
}

const { modules, text } = await whole(await loaded())

const write = (name: string, content: string) => {
  const file = path.join(out, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}

fs.rmSync(out, { recursive: true, force: true })
write("all.js", text)
for (const module of modules) {
  const names = module.exported.map((name) => `${renamed(module, name)} as ${name}`)
  write(
    `${module.name}.js`,
    `export { ${names.join(", ")} } from "${"../".repeat(module.name.split("/").length - 1)}all.js"\n`
  )
}
const packages = bundled.map(({ folder, name }) => {
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, "../package.json"), "utf8"))
  const names = modules.flatMap((module) =>
    module.name.startsWith(`${name}/`) ? [module.name.slice(name.length + 1)] : []
  )
  return { name, version, modules: names }
})
write("modules.json", `${JSON.stringify(packages)}\n`)

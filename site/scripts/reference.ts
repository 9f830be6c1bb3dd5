/** The reference of the API: a Markdown page for each public module, written by TypeDoc from its docstrings. */
import fs from "node:fs"
import path from "node:path"
import { Application } from "typedoc"
import { repository } from "../address.ts"

export interface Module {
  /** As it is imported, such as `@divisi/core/Budget`. */
  readonly name: string
  /** Its file, from the root of the repository. */
  readonly file: string
}

/** Every module that a package's manifest names. */
export const modules = (root: string): ReadonlyArray<Module> =>
  fs.readdirSync(path.join(root, "packages")).flatMap((folder) => {
    const { exports = {}, name } = JSON.parse(
      fs.readFileSync(path.join(root, "packages", folder, "package.json"), "utf8")
    )
    return Object.entries<{ readonly "@divisi/source"?: string }>(exports).flatMap(
      ([subpath, { "@divisi/source": source }]) =>
        source === undefined
          ? []
          : [{ name: path.posix.join(name, subpath), file: path.posix.join("packages", folder, source) }]
    )
  })

/** Writes a page for each module to a folder: that of `packages/core/src/run/Budget.ts` is its path with `.md`. */
export const write = async (root: string, folder: string): Promise<void> => {
  const application = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: modules(root).map(({ file }) => path.join(root, file)),
    tsconfig: path.join(root, "tsconfig.base.json"),
    basePath: root,
    outputs: [{ name: "markdown", path: folder }],
    router: "module",
    readme: "none",
    // `pnpm types` checks them.
    skipErrorChecking: true,
    excludeInternal: true,
    excludeExternals: true,
    disableGit: true,
    sourceLinkTemplate: `${repository}/blob/main/packages/{path}#L{line}`,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    expandObjects: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    propertyMembersFormat: "table",
    tableColumnSettings: { hideSources: true, hideModifiers: true },
    logLevel: "Error"
  } as Parameters<typeof Application.bootstrapWithPlugins>[0])
  const project = await application.convert()
  if (project === undefined) throw new Error("TypeDoc could not read the packages.")
  await application.generateOutputs(project)
}

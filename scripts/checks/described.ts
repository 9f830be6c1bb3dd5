/** The commands of `divisi`, as data. */
import { root } from "../setup/workspace.mjs"
import { run } from "./command.ts"

/** A command of `divisi`, with its flags and subcommands. */
export interface Described {
  readonly name: string
  readonly flags: ReadonlyArray<{
    readonly name: string
    readonly aliases: ReadonlyArray<string>
    readonly type: { readonly _tag: string }
    readonly negation?: string | false
  }>
  readonly subcommands: ReadonlyArray<Described>
}

/** Returns all commands with their flags, which takes one process. The help of each command would take one more. */
export const describe = async (): Promise<Described> => {
  const source = new URL("../../packages/cli/src/Cli.ts", import.meta.url).href
  const script = `import { describe } from "${source}"; process.stdout.write(JSON.stringify(await describe()))`
  const command = [process.execPath, "--conditions=@divisi/source", "--input-type=module", "--eval", script]
  const { code, output, stdout } = await run(command, { cwd: root })
  if (code !== 0) throw new Error(output)
  return JSON.parse(stdout)
}

/** The command line of `divisi`, as the arguments of `node`. */
import path from "node:path"

const file = (name: string) => path.resolve(import.meta.dirname, "..", name)

export const source: ReadonlyArray<string> = ["--conditions=@divisi/source", file("src/main.ts")]

/** The build where `DIVISI_TEST_BUILT` is set, as in CI; the source elsewhere, which needs no build. */
export const command: ReadonlyArray<string> = process.env.DIVISI_TEST_BUILT ? [file("bin/divisi.js")] : source

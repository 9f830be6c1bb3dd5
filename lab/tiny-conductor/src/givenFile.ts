/** Resolves file names from the command line. */
import path from "node:path"

/** The path of a file relative to the folder where the command was started, which a package manager changes. */
export const givenFile = (file: string): string => path.resolve(process.env.INIT_CWD ?? ".", file)

/** Resolves file names from the command line. */
import path from "node:path"

/** A file as it was named where the command was given, which a package manager changes. */
export const givenFile = (file: string): string => path.resolve(process.env.INIT_CWD ?? ".", file)

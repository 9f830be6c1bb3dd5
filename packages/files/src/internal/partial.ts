/** Names of files that are being written. They are renamed once they are complete. */
import { randomUUID } from "node:crypto"

/** Returns the temporary name of a file being written. A killed process leaves such a file behind. */
export const partialOf = (target: string): string => `${target}.${randomUUID()}.partial`

/** Matches the end of a temporary name. */
export const partialPattern = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/

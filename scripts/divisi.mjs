// `npx divisi` in this clone: runs the built command line.
import { withNode } from "./setup/with-node.mjs"

// A URL, because built files are not type-checked with the sources.
withNode(() => import(new URL("../packages/cli/bin/divisi.js", import.meta.url).href))

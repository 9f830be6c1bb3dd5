// `npx divisi` in this clone: the command line as it was built.
import { withNode } from "./setup/with-node.mjs"

// An address, as what is built is not checked with the sources.
withNode(() => import(new URL("../packages/cli/bin/divisi.js", import.meta.url).href))

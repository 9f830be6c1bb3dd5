// `npx divisi` in this clone: the command line as it was built.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("../packages/cli/bin/divisi.js"))

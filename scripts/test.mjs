// `npm test`: sets everything up where that is needed, then runs the tests. Arguments go to vitest.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/test.mjs"))

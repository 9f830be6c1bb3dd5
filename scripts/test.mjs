// `npm test`: sets everything up where that is needed, then runs the tests. Arguments go to vitest.
import { checkNode } from "./setup/node-version.mjs"

if (checkNode()) import("./setup/test.mjs")

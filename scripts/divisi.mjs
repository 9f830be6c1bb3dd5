#!/usr/bin/env node
// `npx divisi` in this clone: sets up the clone if necessary, then runs the command line.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/divisi.mjs"))

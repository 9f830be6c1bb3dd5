import { buildMissing, setUp } from "./set-up.mjs"
import { packages } from "./workspace.mjs"

if (await setUp(packages())) await buildMissing(packages())

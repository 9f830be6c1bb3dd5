/**
 * Last step of every installation of this clone: creates the `divisi` command for `npx divisi`. If another package
 * manager than pnpm was used, also sets up the clone, because npm supports neither `workspace:` nor pnpm's lock file.
 */
import { linkCommand } from "./bin.mjs"
import { setUp } from "./set-up.mjs"
import { closure } from "./workspace.mjs"

const isPnpm = process.env.npm_config_user_agent?.startsWith("pnpm/") ?? false

if (isPnpm || (await setUp(closure("@divisi/cli")))) linkCommand()

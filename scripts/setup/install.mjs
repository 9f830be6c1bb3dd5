/**
 * What every install of this clone ends with: the command `divisi` is there, as `npx divisi` finds it. An install that is
 * not pnpm's own also sets the clone up, for npm reads neither `workspace:` nor pnpm's lock file.
 */
import { linkCommand } from "./bin.mjs"
import { setUp } from "./set-up.mjs"
import { closure } from "./workspace.mjs"

const isPnpm = process.env.npm_config_user_agent?.startsWith("pnpm/") ?? false

if (isPnpm || (await setUp(closure("@divisi/cli")))) linkCommand()

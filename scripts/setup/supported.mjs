// Exit code 0 when this Node is new enough, else 1; for shell scripts.
import { isSupported } from "./node-version.mjs"

process.exitCode = isSupported(process.version) ? 0 : 1

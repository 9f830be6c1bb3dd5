// `npm start -- "<question>"`: sets everything up where that is needed, then is `divisi run "<question>"`.
import { checkNode } from "./setup/node-version.mjs"

if (checkNode()) import("./setup/start.mjs")

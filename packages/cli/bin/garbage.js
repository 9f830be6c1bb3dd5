import { setFlagsFromString } from "node:v8"

// Parsed requests survive collections of the young generation, which grows to up to 128 MB for them. A collection then
// takes 8 to 16 ms, during which a server handles no request. Without growth it takes about 1 ms, and small requests cost the
// same.
if (process.argv[2] === "serve") setFlagsFromString("--semi-space-growth-factor=1")

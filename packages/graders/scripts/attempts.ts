/** Prints how many attempts at an undeserved verdict there are, as the table of docs/lab/sandbox.md. */
import { known, more, stages } from "../test/attacks.ts"

const ways = known.length + more.length
process.stdout.write(`| ways | stages | attempts in each sandbox |
|---|---|---|
| ${ways} | ${stages.length} | ${ways * stages.length} |
`)

/** Mutants in the code for machines that share a database. Each must be detected. */
import type { Mutant } from "../Mutants.ts"

/** The mistakes by name, with a seed that finds it in the world of the tests. */
export const mutants: Readonly<Record<string, Mutant & { readonly seed: number }>> = {
  // A run is taken over from a machine that has calls in flight.
  "taken-at-once": {
    seed: 1,
    file: "cluster/src/internal/journalTable.ts",
    edits: [{ from: '? "true" : lost(expireMillis)', to: '? "true" : "true"' }]
  },
  // A machine that was taken over writes on.
  unfenced: {
    seed: 1,
    file: "cluster/src/internal/journalTable.ts",
    edits: [
      {
        from: "runs.id = given.id AND runs.epoch = given.epoch AND runs.length = given.seq\n      WHERE owner = $9",
        to: "runs.id = given.id\n      WHERE $9::text <> ''"
      }
    ]
  },
  // A run is handed over with its calls in flight.
  "handed-over-early": {
    seed: 1,
    file: "cluster/src/runs/owned.ts",
    edits: [{ from: "if (run.isStopping && run.open.size === 0)", to: "if (run.isStopping)" }]
  },
  "lease-ignored": {
    seed: 1,
    file: "cluster/src/PostgresTasks.ts",
    edits: [{ from: "(until IS NULL OR until <", to: "(true OR until <" }]
  },
  "lease-not-renewed": {
    seed: 1,
    file: "cluster/src/PostgresTasks.ts",
    edits: [
      {
        from: "WHERE work = $1 AND owner = $2 AND key = ANY ($3::text[]) AND body IS NULL RETURNING",
        to: "WHERE work = $1 AND owner = $2 AND key = ANY ($3::text[]) AND false RETURNING"
      }
    ]
  },
  // The last answer of a task stays, and not the first.
  "answer-overwritten": {
    seed: 1,
    file: "cluster/src/PostgresTasks.ts",
    edits: [{ from: "known.key = given.key AND known.body IS NULL", to: "known.key = given.key" }]
  },
  // The calls in flight of a lost machine cost nothing.
  "buried-free": {
    seed: 1,
    file: "cluster/src/internal/schema.ts",
    edits: [
      {
        from: "d_cost := d_cost + coalesce(hold.cost_usd, 0);\n          d_input := d_input + hold.tokens;",
        to: "d_input := d_input + hold.tokens;"
      }
    ]
  }
}

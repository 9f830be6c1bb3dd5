/** Errors raised by journals, and by runs that cannot be resumed from one. */
import * as Data from "effect/Data"

/** Why a journal is unusable. */
export type JournalErrorReason =
  /** Another process is executing the run. */
  | { readonly _tag: "Held"; readonly run: string; readonly owner: string }
  /** Another process has taken over the run, or the appended entries do not directly follow the existing ones. */
  | { readonly _tag: "Fenced"; readonly run: string }
  /** Too many consecutive processes crashed or froze while executing the run, without receiving an answer. */
  | { readonly _tag: "Abandoned"; readonly run: string; readonly takeovers: number }
  | { readonly _tag: "Missing"; readonly run: string }
  /** The runtime does not provide `node:sqlite`. */
  | { readonly _tag: "Unsupported" }
  | { readonly _tag: "Unwritable"; readonly detail: string }
  /** The database is unreachable or rejects the operation. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  | { readonly _tag: "Full" }
  /** The file or database is not a journal. */
  | { readonly _tag: "Foreign" }
  /** The journal was written by a newer version of this package. */
  | { readonly _tag: "Newer" }
  | { readonly _tag: "Damaged"; readonly detail: string }

const explain = (reason: JournalErrorReason): string => {
  switch (reason._tag) {
    case "Held":
      return `cannot open run ${reason.run}, which is owned by ${reason.owner}. Wait for it to finish, or stop that process`
    case "Fenced":
      return `can no longer record run ${reason.run} in this process: another process took it over, so it was stopped here`
    case "Abandoned":
      return `has stopped run ${reason.run}: ${reason.takeovers} consecutive processes crashed or froze while executing it. Check their memory and logs, then resume it`
    case "Missing":
      return `has no run ${reason.run}. List runs with: divisi runs`
    case "Unsupported":
      return "needs node:sqlite, which this runtime does not have. Use Node 22.19 or newer"
    case "Unwritable":
      return `cannot be written (${reason.detail}). Check the path, its permissions and the free space`
    case "Unreachable":
      return `cannot be used (${reason.detail}). Check that its database is running, then resume the stopped runs`
    case "Full":
      return "cannot be written, because the disk is full. Free some space, then resume the stopped runs"
    case "Foreign":
      return "is not a Divisi journal, or its header is damaged. The file was not changed. Choose another file"
    case "Newer":
      return "was written by a newer version of Divisi. Update Divisi, or choose another file"
    case "Damaged":
      return `is damaged (${reason.detail}). Restore it from a backup, or choose another file`
  }
}

/** Raised when a journal is unusable. */
export class JournalError extends Data.TaggedError("JournalError")<{
  readonly journal: string
  readonly reason: JournalErrorReason
}> {
  override get message(): string {
    return `The journal ${this.journal} ${explain(this.reason)}.`
  }
}

/** Detail of a {@link JournalMismatch} caused by a different question. */
export const otherQuestion = "has a different question"

/** Raised when a resumed run diverges from its journal or transcript. Nothing has been requested or written. */
export class JournalMismatch extends Data.TaggedError("JournalMismatch")<{
  readonly run: string
  /** Address of the diverging call within the run, or the run's id if the run as a whole diverges. */
  readonly call: string
  readonly detail: string
}> {
  override get message(): string {
    if (this.call === this.run && this.detail === otherQuestion) {
      return `Run "${this.run}" already exists and ${otherQuestion}. Choose another run id, or repeat the original question to resume the run.`
    }
    const subject = this.call === this.run ? "it" : `call ${this.call}`
    return `Cannot resume run ${this.run}: ${subject} ${this.detail}. Resume it with the policy, pool, settings, seed and tools of the original run.`
  }
}

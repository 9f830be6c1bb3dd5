/** Why a journal cannot be used, or a run not be resumed from it. */
import * as Data from "effect/Data"

/** Why a journal cannot be used. */
export type JournalErrorReason =
  /** Another process carries the run on. */
  | { readonly _tag: "Held"; readonly run: string; readonly owner: string }
  /** Another process has taken the run over; or what is appended does not follow what is there. */
  | { readonly _tag: "Fenced"; readonly run: string }
  | { readonly _tag: "Missing"; readonly run: string }
  /** This runtime has no `node:sqlite`. */
  | { readonly _tag: "Unsupported" }
  | { readonly _tag: "Unwritable"; readonly detail: string }
  /** Its database cannot be reached, or does not do what it is asked. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  | { readonly _tag: "Full" }
  /** It is something else than a journal. */
  | { readonly _tag: "Foreign" }
  /** A newer version of this package wrote it. */
  | { readonly _tag: "Newer" }
  | { readonly _tag: "Damaged"; readonly detail: string }

const explain = (reason: JournalErrorReason): string => {
  switch (reason._tag) {
    case "Held":
      return `has run ${reason.run}, which ${reason.owner} carries on: wait until it has ended, or stop it`
    case "Fenced":
      return `has run ${reason.run}, which somebody else has taken over: this process has to stop it`
    case "Missing":
      return `has no run ${reason.run}: \`divisi runs\` lists those that it has`
    case "Unsupported":
      return "needs node:sqlite, which this runtime does not have: use Node 22.19 or newer"
    case "Unwritable":
      return `cannot be written (${reason.detail}): check the path, its permissions and the space that is left`
    case "Unreachable":
      return `cannot be used (${reason.detail}): check that its database runs, and resume what has stopped`
    case "Full":
      return "cannot be written, as no space is left on its disk: free some, and resume what has stopped"
    case "Foreign":
      return "is a file of something else, or its beginning is damaged, and was left as it is: name another file"
    case "Newer":
      return "was written by a newer version of Divisi: update, or name another file"
    case "Damaged":
      return `is damaged (${reason.detail}): restore it from a copy, or name another file`
  }
}

/** A journal that cannot be used. `reason` says why. */
export class JournalError extends Data.TaggedError("JournalError")<{
  readonly journal: string
  readonly reason: JournalErrorReason
}> {
  override get message(): string {
    return `The journal ${this.journal} ${explain(this.reason)}.`
  }
}

/** A resumed run asks something else than the journal says it did. Nothing was asked or written. */
export class JournalMismatch extends Data.TaggedError("JournalMismatch")<{
  readonly run: string
  /** Where: the call's place in its run. */
  readonly call: string
  readonly detail: string
}> {
  override get message(): string {
    return `Run ${this.run} cannot be resumed as it is set up now: call ${this.call} ${this.detail}. Resume it with the policy, pool, settings, seed and pending tools with which it was begun.`
  }
}

/** The questions of a recording that the Conductor is not trained on. */
import { createHash } from "node:crypto"
import * as Task from "@divisi/core/Task"

/** The share of the questions that is held out. */
export const share = 0.3

/**
 * Whether a question is held out. It depends on the text alone: a question that was held out once is never trained on,
 * however many are added later.
 */
export const isHeldOut = (task: Task.Task): boolean =>
  createHash("sha256").update(Task.question(task).trim()).digest().readUInt32BE(0) / 2 ** 32 < share

/** The minimum number of questions for each of the two parts. */
export const least = 10

/** Selects the questions of a recording that are held out from training. */
import { createHash } from "node:crypto"
import * as Task from "@divisi/core/Task"

/** Share of the questions to hold out. */
export const share = 0.3

/**
 * Whether a question is held out. This depends only on its text, so a held-out question is never used for training,
 * even if questions are added later.
 */
export const isHeldOut = (task: Task.Task): boolean =>
  createHash("sha256").update(Task.question(task).trim()).digest().readUInt32BE(0) / 2 ** 32 < share

/** Minimum number of questions in each of the two parts. */
export const least = 10

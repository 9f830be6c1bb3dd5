/** Formats the runs in a journal for display. */
import { Journal, type RunEvent } from "@divisi/core"
import * as Option from "effect/Option"
import * as Hint from "../invocation/Hint.ts"
import * as Format from "../view/Format.ts"
import { cut, oneLine } from "../view/Line.ts"
import { table, toLeft } from "../view/Table.ts"
import * as ResumeCommand from "./ResumeCommand.ts"

const questionWidth = 40

/** Formats an age, e.g. 3 s, 12 min, 5 h or 9 d. */
const ago = (millis: number): string => {
  const seconds = Math.max(0, Math.round(millis / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** A journal does not store the flags of a run, and a resumed call must equal the recorded one. */
const otherFlags = "\nRepeat the flags that the run was started with, such as --policy or --max-output-tokens."

/** Returns the flag of `divisi runs resume` that responds to a pending call. */
const response = ({ call, for: what, id }: RunEvent.WaitingCall): string => {
  if (what === "result") return `--result ${Hint.quoted(`${id}=<text>`)}`
  return `--approve ${Hint.quoted(what === "plan" ? id : call.name)}`
}

/** Describes the state of a run and what to do next. `pending` contains the calls that it is waiting for. */
export const state = (
  run: Journal.Summary,
  place: ResumeCommand.Flags,
  pending: ReadonlyArray<RunEvent.WaitingCall>
): string => {
  const command = ResumeCommand.text(run.run, place)
  const resume = `${[command, ...new Set(pending.map(response))].join(" ")}${otherFlags}`
  const { owner, waitsFor = [] } = run
  const state = Journal.stateOf(run)
  if (state === "waiting") return `waiting for ${waitsFor.join(", ")}. Resume it with: ${resume}`
  if (state === "stopped") return `stopped. Resume it with: ${resume}`
  if (state === "damaged") return `damaged: ${run.damaged}`
  if (state === "failed" || state === "budget") return `${state}. Resume it with: ${resume}`
  return state === "running" ? `running in ${owner}` : state
}

/** Describes an empty journal. `hasServers` is set if the environment names a database of servers. */
export const none = ({ database = Option.none(), journal }: Hint.Place, hasServers: boolean): string => {
  if (Option.isSome(database)) return "No runs found in the database."
  const text = `No runs found. Store a run with: ${Hint.command("divisi run --durable", { journal })}`
  return hasServers ? `${text}\nFor the runs of the servers in DIVISI_DATABASE, pass --database.` : text
}

/** Formats the cost of a run. If the prices of some calls are unknown, the cost is only a lower bound. */
const costOf = ({ costUsd, isPlay, isUnpriced }: Journal.Summary): string => {
  const cost = Format.cost(costUsd, isPlay)
  if (isUnpriced !== true) return cost
  return costUsd === 0 ? "unknown" : `${cost} + unknown`
}

/** Formats a list of runs, one per line. */
export const list = (runs: ReadonlyArray<Journal.Summary>, now: number, count: number): string => {
  const rows = runs.map((run) => [
    run.run,
    Journal.stateOf(run),
    `${ago(now - run.changedAt)} ago`,
    costOf(run),
    `${run.calls}`,
    cut(oneLine(run.damaged === undefined ? run.question : `(${run.damaged})`), questionWidth),
    run.waitsFor?.join(", ") ?? ""
  ])
  const more = count > runs.length ? `\n${count - runs.length} more. List all with: --limit ${count}` : ""
  return `${table([["run", "state", "changed", "cost", "calls", "question", "waits for"], ...rows], toLeft)}${more}`
}

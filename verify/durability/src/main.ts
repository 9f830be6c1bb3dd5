/**
 * `pnpm durability bytes|disks|kills|points|chaos|machines|load|samples`: runs many cases for several minutes, or
 * repeats a single one.
 *
 * Failures and counts are printed to standard output, and progress to standard error. The exit code is 1 if anything
 * failed.
 */
import { parseArgs } from "node:util"
import * as Bytes from "./Bytes.ts"
import * as Chaos from "./Chaos.ts"
import * as Disks from "./Disks.ts"
import * as Disk from "./disks/Disk.ts"
import * as Kills from "./Kills.ts"
import * as Load from "./Load.ts"
import * as Machines from "./Machines.ts"
import * as Samples from "./Samples.ts"

const print = (line: string) => process.stdout.write(`${line}\n`)

const show = (text: string) => process.stderr.isTTY && process.stderr.write(`\r${text}\u001B[K`)

/** The minutes, the first seed and the single seed of the options. */
interface Asked {
  readonly minutes: number
  readonly from: number
  readonly seed: number | undefined
  readonly only: string | undefined
  /** The most seeds. */
  readonly seeds: number
}

const bytes = async ({ from, minutes, only, seed, seeds }: Asked): Promise<boolean> => {
  const prepared = await Bytes.prepare()
  const chosen = prepared.filter(({ subject }) => only === undefined || subject.name.includes(only))
  const counts = new Map(chosen.map(({ subject }) => [subject.name, { right: 0, refused: 0, broken: 0 }]))
  const until = performance.now() + minutes * 60_000
  let broken = 0
  const one = async (at: number) => {
    for (const subject of chosen) {
      const ended = await Bytes.run(subject, at)
      const count = counts.get(subject.subject.name)!
      if (typeof ended === "string") count[ended] += 1
      else {
        count.broken += 1
        broken += 1
        print(`seed ${at}, ${ended.subject}, ${ended.how}: ${ended.problem}`)
        print(`  again: pnpm durability bytes --seed ${at} --only ${JSON.stringify(ended.subject)}`)
      }
    }
  }
  try {
    if (seed !== undefined) await one(seed)
    else {
      for (let at = from; performance.now() < until && at < from + seeds; at++) {
        await one(at)
        show(`seed ${at}, ${broken} broken, ${Math.ceil((until - performance.now()) / 1000)} s left`)
      }
    }
  } finally {
    Bytes.close(prepared)
  }
  show("")
  for (const [name, { broken, refused, right }] of counts) {
    print(`${name}: ${right + refused + broken} damaged, ${right} right, ${refused} refused, ${broken} broken`)
  }
  return broken === 0
}

const disks = async ({ from, minutes, seed, seeds }: Asked, isMounted: boolean): Promise<boolean> => {
  const bench = await Disks.open(isMounted)
  const counts = new Map<string, { done: number; refused: number; broken: number }>()
  const until = performance.now() + minutes * 60_000
  let broken = 0
  let next = from
  const one = async (at: number) => {
    const ended = await Disks.run(bench, at)
    const name = typeof ended === "string" ? ended : "broken"
    const condition = Disks.conditionOf(bench, at)
    const count = counts.get(condition) ?? { done: 0, refused: 0, broken: 0 }
    counts.set(condition, count)
    count[name] += 1
    if (typeof ended === "string") return
    broken += 1
    print(`seed ${at}, ${ended.command}, ${ended.condition}: ${ended.problem}`)
    print(`  again: pnpm durability disks --seed ${at}`)
  }
  const lane = async () => {
    while (performance.now() < until && next < from + seeds) {
      await one(next++)
      show(`${next - from} cases, ${broken} broken, ${Math.ceil((until - performance.now()) / 1000)} s left`)
    }
  }
  try {
    await (seed === undefined ? Promise.all([lane(), lane()]) : one(seed))
  } finally {
    await bench.close()
  }
  show("")
  for (const [name, { broken, done, refused }] of counts) {
    print(
      `${name}: ${done + refused + broken} cases, ${done} done at once, ${refused} when it was well again, ${broken} broken`
    )
  }
  return broken === 0
}

const kills = async (killing: Promise<Kills.Found>): Promise<boolean> => {
  const { answered, asked, inDoubt, kills, problems, runs } = await killing
  show("")
  for (const problem of problems) print(problem)
  print(
    `${kills} kills, ${runs} runs: the vendor was asked ${asked} times, ${answered} answers are in the journal, ` +
      `${inDoubt} calls were in doubt and told; ${problems.length} broken`
  )
  return problems.length === 0
}

/** Whether a command can start a database. If not, the reason is printed. */
const canStartPostgres = (command: string): boolean => {
  const isPossible = Machines.isPossible()
  if (!isPossible) {
    process.stderr.write(`pnpm durability ${command} needs initdb, pg_ctl and postgres of Postgres 14 or newer.\n`)
  }
  return isPossible
}

const chaos = async (options: Chaos.Options, isJson: boolean): Promise<boolean> => {
  if (!canStartPostgres("chaos")) return false
  const found = await Chaos.run(options, show)
  show("")
  print(isJson ? JSON.stringify(found, undefined, 2) : Chaos.format(found))
  return found.problems.length === 0
}

const machines = async (options: Machines.Options): Promise<boolean> => {
  if (!canStartPostgres("machines")) return false
  const found = await Machines.run(options, print)
  print(Machines.format(found))
  return found.problems.length === 0
}

const load = async (runs: number): Promise<boolean> => {
  if (!canStartPostgres("load")) return false
  print(Load.format(await Load.run({ runs }, (point) => print(Load.formatPoint(point)))))
  return true
}

const samples = async (options: Samples.Options): Promise<boolean> => {
  if (!canStartPostgres("samples")) return false
  const found = await Samples.run(options, print)
  print(Samples.format(found))
  return found.problems.length === 0
}

const main = async (): Promise<boolean> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string" },
      from: { type: "string", default: "0" },
      seed: { type: "string" },
      only: { type: "string" },
      seeds: { type: "string", default: "Infinity" },
      kills: { type: "string", default: "1000" },
      questions: { type: "string", default: "5000" },
      faults: { type: "string", default: "500" },
      json: { type: "boolean", default: false },
      runs: { type: "string", default: "2000" },
      servers: { type: "string", default: "6" },
      lanes: { type: "string", default: "3" },
      samples: { type: "string", default: "10000" },
      folders: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  })
  const asked: Asked = {
    minutes: Number(values.minutes ?? "5"),
    from: Number(values.from),
    seed: values.seed === undefined ? undefined : Number(values.seed),
    only: values.only,
    seeds: Number(values.seeds)
  }
  switch (values.help ? undefined : positionals[0]) {
    case "bytes":
      return bytes(asked)
    case "disks": {
      if (values.folders || !Disk.isPossible()) {
        const why = values.folders ? "as asked" : "as this system lets nobody mount one (unshare --user --mount)"
        print(`folders take the place of disks, ${why}; not tried: ${Disks.untried.join(", ")}`)
        return disks(asked, false)
      }
      const code = await Disk.enter()
      return code === undefined ? disks(asked, true) : code === 0
    }
    case "kills":
      return kills(
        Kills.random({ kills: Number(values.kills), until: performance.now() + asked.minutes * 60_000 }, show)
      )
    case "points":
      return kills(Kills.points(show))
    case "chaos": {
      const { faults, questions } = values
      const only = asked.only?.split(",")
      return chaos({ seed: asked.seed ?? 1, questions: Number(questions), faults: Number(faults), only }, values.json)
    }
    case "machines":
      return machines({
        seed: asked.seed ?? 1,
        runs: Number(values.runs),
        faults: Number(values.faults),
        servers: Number(values.servers),
        lanes: Number(values.lanes),
        minutes: values.minutes === undefined ? undefined : Number(values.minutes)
      })
    case "load":
      return load(Number(values.runs))
    case "samples":
      return samples({ seed: asked.seed ?? 1, samples: Number(values.samples) })
    default:
      process.stderr.write(
        "pnpm durability bytes|disks [--minutes 5] [--from 0] [--seeds N] [--seed N]\npnpm durability kills [--kills 1000] [--minutes 5]\npnpm durability points\npnpm durability chaos [--seed 1] [--questions 5000] [--faults 500] [--only KINDS] [--json]\npnpm durability machines [--seed 1] [--runs 2000] [--faults 500] [--servers 6] [--lanes 3] [--minutes N]\npnpm durability load [--runs 2000]\npnpm durability samples [--seed 1] [--samples 10000]\npnpm durability bytes [--only NAME]\npnpm durability disks [--folders]\n"
      )
      return false
  }
}

process.exitCode = (await main()) ? 0 : 1

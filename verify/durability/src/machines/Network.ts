/**
 * Machines with separate networks: network namespaces on one bridge, whose links can be cut. Requires root on Linux.
 */
import { spawnSync } from "node:child_process"

const ip = (...args: ReadonlyArray<string>) => spawnSync("ip", args, { encoding: "utf8" })

const ipOrThrow = (...args: ReadonlyArray<string>) => {
  const { status, stderr } = ip(...args)
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`)
}

/** The machines of a network. */
export interface Network {
  /** The address at which the machines reach this process. */
  readonly gateway: string
  readonly addressOf: (machine: number) => string
  /** The prefix of a command that runs on a machine. */
  readonly within: (machine: number) => ReadonlyArray<string>
  /** Disconnects a machine from all others, or connects it again. */
  readonly setCut: (machine: number, isCut: boolean) => void
  readonly close: () => void
}

/** The names of a process, so that two trials on one machine keep apart: its bridge, and machines with a number behind. */
const prefix = "divisi"
const bridge = `${prefix}${process.pid}`
const nameOf = (machine: number) => `${bridge}-${machine}`

/** A subnet for this process. */
const subnet = `10.${64 + ((process.pid >> 8) & 127)}.${process.pid & 255}`

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Removes the namespaces of this process, and those left by processes that have ended. */
const remove = () => {
  const names = (listed: string) => [...listed.matchAll(new RegExp(`\\b${prefix}(\\d+)(?:-\\w+)?`, "g"))]
  const isOurs = ([, pid]: RegExpMatchArray) => Number(pid) === process.pid || !isAlive(Number(pid))
  // A link is removed some time after its namespace otherwise.
  for (const found of names(ip("-o", "link").stdout)) if (isOurs(found)) ip("link", "del", found[0])
  for (const found of names(ip("netns", "list").stdout)) if (isOurs(found)) ip("netns", "del", found[0])
}

/** Whether this system allows it. */
export const isPossible = (): boolean => {
  const isMade = ip("netns", "add", `${bridge}-look`).status === 0
  ip("netns", "del", `${bridge}-look`)
  return isMade
}

/** Creates the machines. */
export const open = (count: number): Network => {
  const [gateway, addressOf] = [`${subnet}.1`, (machine: number) => `${subnet}.${machine + 10}`]
  remove()
  ipOrThrow("link", "add", bridge, "type", "bridge")
  ipOrThrow("addr", "add", `${gateway}/24`, "dev", bridge)
  ipOrThrow("link", "set", bridge, "up")
  for (let machine = 0; machine < count; machine++) {
    const name = nameOf(machine)
    ipOrThrow("netns", "add", name)
    ipOrThrow("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    ipOrThrow("link", "set", name, "master", bridge, "up")
    ipOrThrow("-n", name, "addr", "add", `${addressOf(machine)}/24`, "dev", "eth0")
    ipOrThrow("-n", name, "link", "set", "eth0", "up")
    ipOrThrow("-n", name, "link", "set", "lo", "up")
  }
  return {
    gateway,
    addressOf,
    within: (machine) => ["ip", "netns", "exec", nameOf(machine)],
    setCut: (machine, isCut) => ipOrThrow("link", "set", nameOf(machine), isCut ? "down" : "up"),
    close: remove
  }
}

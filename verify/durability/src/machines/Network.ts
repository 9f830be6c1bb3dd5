/** Machines with a network of their own: network namespaces on one bridge, whose links can be cut. It needs root on Linux. */
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
  /** The words before a command that runs on a machine. */
  readonly within: (machine: number) => ReadonlyArray<string>
  /** Cuts a machine off from all others, or connects it again. */
  readonly setCut: (machine: number, isCut: boolean) => void
  readonly close: () => void
}

const bridge = "divisi"

const nameOf = (machine: number) => `${bridge}${machine}`

const remove = (count: number) => {
  for (let machine = 0; machine < count; machine++) {
    // A link is removed some time after its namespace otherwise.
    ip("link", "del", nameOf(machine))
    ip("netns", "del", nameOf(machine))
  }
  ip("link", "del", bridge)
}

/** Whether this system allows it. */
export const isPossible = (): boolean => {
  const isMade = ip("netns", "add", `${bridge}-look`).status === 0
  ip("netns", "del", `${bridge}-look`)
  return isMade
}

/** Creates the machines. */
export const open = (count: number): Network => {
  const [gateway, addressOf] = ["10.99.7.1", (machine: number) => `10.99.7.${machine + 10}`]
  remove(count)
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
    close: () => remove(count)
  }
}

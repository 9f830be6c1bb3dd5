/** Words the errors of a command line: unknown flags and subcommands, missing and invalid values. */
import { Nearest } from "@divisi/core"
import type * as CliError from "effect/cli/CliError"
import type { HelpDoc } from "effect/cli/HelpDoc"
import { integer } from "./flags.ts"
import * as Habits from "./Habits.ts"

/** Joins alternatives: `a, b or c`. The formatter is not created at startup, where it would take up to 24 ms. */
const either = (names: ReadonlyArray<string>): string =>
  new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names)

/** Returns the question for one of several names, with a space before it, or an empty text without names. */
export const meant = (suggestions: ReadonlyArray<string>): string =>
  Nearest.didYouMean(suggestions.length === 0 ? undefined : either(suggestions))

/** Returns the flag that the command has for a name in other programs. */
const habitualFlags = (option: string, { flags }: HelpDoc): ReadonlyArray<string> => {
  const known = Habits.flag(option.replace(/^-+/, ""))
  return flags.some(({ name }) => name === known) ? [`--${known}`] : []
}

/** Returns the advice for a flag that has the name of one of the command's arguments. */
const argumentAdvice = (option: string, { args = [] }: HelpDoc): string | undefined =>
  args.some(({ name }) => `--${name.replace(/\.+$/, "")}` === option)
    ? ` It is an argument: pass its value without ${option}.`
    : undefined

const habitualCommands = (name: string, parent: string): ReadonlyArray<string> => {
  const known = parent === "divisi" ? Habits.subcommand(name) : undefined
  return known === undefined ? [] : [known]
}

/** Lists the subcommands, unless there are so many that only the help shows them. */
const subcommandsOf = ({ subcommands = [] }: HelpDoc): string => {
  const names = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  return names.length === 0 || names.length > 10 ? "" : ` Subcommands: ${names.join(", ")}.`
}

/** Describes a group that is also a command: `divisi runs` lists runs. */
const ownOf = ({ description, flags, subcommands = [] }: HelpDoc, command: string): string => {
  const [first = ""] = description.split(/[.,:](?:\s|$)/)
  const act = `${first.slice(0, 1).toLowerCase()}${first.slice(1)}`
  return subcommands.length > 0 && flags.length > 0 ? ` To ${act}, use ${command} without a subcommand.` : ""
}

const textOf = (error: CliError.CliError, doc: HelpDoc): string => {
  switch (error._tag) {
    case "UnrecognizedOption": {
      const habits = habitualFlags(error.option, doc)
      const advice = argumentAdvice(error.option, doc) ?? meant(habits.length > 0 ? habits : error.suggestions)
      return `Unknown flag ${error.option}.${advice}`
    }
    case "UnknownSubcommand": {
      const command = error.parent?.join(" ") ?? "divisi"
      const start = `Unknown subcommand "${error.subcommand}"${command === "divisi" ? "" : ` of ${command}`}.`
      const habits = habitualCommands(error.subcommand, command)
      return `${start}${meant(habits.length > 0 ? habits : error.suggestions)}${subcommandsOf(doc)}${ownOf(doc, command)}`
    }
    case "UnexpectedArgument":
      return `Unexpected argument${error.arguments.length === 1 ? "" : "s"}: ${error.arguments.map((text) => `"${text}"`).join(", ")}.`
    case "InvalidValue": {
      const count = /^(\d+) occurrences$/.exec(error.value)?.[1]
      if (count !== undefined && error.expected === "at most 1 value")
        return `--${error.option} was passed ${count} times. Pass it once.`
      const message = error.message.replace(
        /Expected: (\S+(?: \| \S+)+)$/s,
        (_, choices: string) => `Expected one of ${choices.replaceAll(" | ", ", ")}`
      )
      if (message.endsWith("Expected an integer") && /^[+-]?\d+$/.test(error.value))
        return message.replace(/Expected an integer$/, `Expected a whole number up to ${Number.MAX_SAFE_INTEGER}.`)
      // For text, the parser's message is the same for integers and other numbers.
      const isInteger = doc.flags.some(({ name, type }) => name === error.option && type === integer)
      const worded = message.replace(
        /Expected (?:an integer|a string representing a finite number)$/,
        `Expected a ${isInteger ? "whole " : ""}number`
      )
      return /[.!?]$/.test(worded) ? worded : `${worded}.`
    }
    default:
      return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
  }
}

/**
 * Returns the message of each error. Only errors of the first kind are included: a rejected flag leaves its value
 * behind, which the parser also reports.
 */
export const texts = (errors: ReadonlyArray<CliError.CliError>, doc: HelpDoc): ReadonlyArray<string> =>
  errors.filter(({ _tag }) => _tag === errors[0]?._tag).map((error) => textOf(error, doc))

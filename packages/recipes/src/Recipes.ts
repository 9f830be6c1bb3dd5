/** The recipes that come with `divisi`. Each is loaded when it is asked for; what it needs may not be installed. */
import type { Recipe } from "./Recipe.ts"

/** A recipe with its description. */
export interface Known {
  readonly description: string
  /** The engines that `--engine` may name, its own first. */
  readonly engines: readonly [string, ...ReadonlyArray<string>]
  readonly load: () => Promise<Recipe>
}

/** By name. */
export const recipes = {
  gym: {
    description: "a Conductor of under a million weights learns from nothing in the gym, within an hour on two cores",
    engines: ["jax"],
    load: async () => (await import("./gym/GymRecipe.ts")).gym
  },
  toy: {
    description: "a table of numbers learns in a few seconds whom of three workers of the gym to ask",
    engines: ["toy", "jax"],
    load: async () => (await import("./toy/ToyRecipe.ts")).toy
  },
  paper: {
    description: "the paper's run: a 7B over the pool of seven, adaptive pools, recursion; through the Tinker API",
    engines: ["tinker"],
    load: async () => (await import("./paper/PaperRecipe.ts")).paper
  },
  "paper-small": {
    description: "the paper's run at a twentieth of its rollouts, to see whether it learns",
    engines: ["tinker"],
    load: async () => (await import("./paper/PaperRecipe.ts")).small
  },
  "paper-smoke": {
    description: "every phase of the paper's run once, with a few rollouts, to see whether everything is there",
    engines: ["tinker"],
    load: async () => (await import("./paper/PaperRecipe.ts")).smoke
  }
} satisfies Readonly<Record<string, Known>>

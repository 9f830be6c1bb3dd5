/** The built-in recipes of `divisi`. Each one is loaded on first use, because its dependencies may not be installed. */
import type { Recipe } from "./Recipe.ts"

/** A built-in recipe with its description. */
export interface Known {
  readonly description: string
  /** The engines accepted by `--engine`; the first one is the default. */
  readonly engines: readonly [string, ...ReadonlyArray<string>]
  /** Whether the recipe accepts `--base-model`. */
  readonly takesBaseModel: boolean
  readonly load: () => Promise<Recipe>
}

/** The built-in recipes, keyed by name. */
export const recipes = {
  gym: {
    description:
      "trains a Conductor with fewer than a million weights from scratch in the gym, within an hour on two cores",
    engines: ["jax"],
    takesBaseModel: false,
    load: async () => (await import("./gym/GymRecipe.ts")).gym
  },
  toy: {
    description: "trains a table of numbers in a few seconds to choose among three gym workers",
    engines: ["toy", "jax"],
    takesBaseModel: false,
    load: async () => (await import("./toy/ToyRecipe.ts")).toy
  },
  paper: {
    description:
      "the paper's training: a 7B model with the pool of seven, adaptive pools and recursion, through the Tinker API",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).paper
  },
  "paper-small": {
    description: "the paper's training with a twentieth of the rollouts, to see whether it learns",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).small
  },
  "paper-smoke": {
    description: "every phase of the paper's training with a few rollouts, to see whether the setup is complete",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).smoke
  }
} satisfies Readonly<Record<string, Known>>

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
    description: "trains a lookup table to choose among three gym workers; takes a few seconds",
    engines: ["toy", "jax"],
    takesBaseModel: false,
    load: async () => (await import("./toy/ToyRecipe.ts")).toy
  },
  paper: {
    description:
      "reproduces the training of the Conductor paper through the Tinker API: a 7B model, seven workers, adaptive pools and recursion",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).paper
  },
  "paper-small": {
    description: "the paper recipe with 1/20 of the rollouts, to see whether the model learns",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).small
  },
  "paper-smoke": {
    description: "the paper recipe with a few rollouts per phase, to check the setup",
    engines: ["tinker"],
    takesBaseModel: true,
    load: async () => (await import("./paper/PaperRecipe.ts")).smoke
  }
} satisfies Readonly<Record<string, Known>>

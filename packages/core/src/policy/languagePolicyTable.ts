/**
 * Validates the options for language policies, for use with `Options.check`. A separate module, so that it loads
 * neither the prompts nor the plan parser.
 */
import * as Options from "../Options.ts"
import { reasoningTable } from "../task/Worker.ts"
import type * as LanguagePolicy from "./LanguagePolicy.ts"
import type * as Prompt from "./Prompt.ts"

export const promptTable = {
  template: Options.anObject,
  examples: Options.expects("a list of examples", Array.isArray),
  access: Options.oneOf("binary", "fine-grained"),
  descriptions: Options.flag,
  subtasks: Options.flag,
  how: Options.flag,
  mayAnswer: Options.flag
} satisfies Options.ShapeOf<Prompt.ConductorOptions>

export const languagePolicyTable = Options.table(
  {
    model: Options.madeBy('a worker, such as openai("gpt-6.1-sol") or worker({ id, answer })', "generate"),
    name: Options.name,
    prompt: promptTable,
    maxOutputTokens: Options.whole(1),
    temperature: Options.temperature,
    reasoning: reasoningTable,
    mode: Options.oneOf("tolerant", "strict", "thought-then-strict"),
    refusal: Options.aFunction,
    resamples: Options.whole(0),
    fallback: Options.madeBy("a policy, such as single(0)", "propose")
  } satisfies Options.ShapeOf<LanguagePolicy.Options>,
  {
    required: ["model"],
    called: Options.aliases({ model: "llm worker planner agent", fallback: "default backup", resamples: "maxRetries" })
  }
)

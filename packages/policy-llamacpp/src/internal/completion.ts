/** Generates one completion: samples tokens on a sequence until the completion ends. */
import { defined } from "@divisi/core/Fields"
import type { FinishReason, WorkflowFormat } from "@divisi/core/Worker"
import { WorkflowGrammar } from "@divisi/gguf/browser"
import type { LlamaGrammarEvaluationState, LlamaModel, Token } from "node-llama-cpp"
import * as Output from "./output.ts"
import * as Sequences from "./sequences.ts"
import type { Force } from "./toolText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Sampling settings. 0 disables a filter, except for `topP`, which 1 disables. */
export interface Sampling {
  readonly temperature: number
  readonly topK: number
  readonly topP: number
  readonly minP: number
}

/** Compiles a grammar. Each call of the returned function starts a new text. */
export type Grammars = (source: string) => Promise<() => LlamaGrammarEvaluationState>

/** A request for a completion. */
export interface Request {
  readonly prompt: ReadonlyArray<Token>
  /** Maximum number of tokens to sample. */
  readonly limit: number
  readonly sampling: Sampling
  readonly seed: number
  readonly stopTokens: ReadonlySet<Token>
  readonly stopSequences: ReadonlyArray<string>
  /** Ends the completion when the third list is closed. */
  readonly format?: WorkflowFormat | undefined
  /** Enforces the format; text before the lists is then limited to `reasoningLimit` tokens. */
  readonly grammar?: { readonly of: Grammars; readonly reasoningLimit: number } | undefined
  /**
   * Enforces the remainder of a text that is not a workflow: the grammar applies once the text has reached the forced
   * part.
   */
  readonly forced?: { readonly of: Grammars; readonly by: Force } | undefined
  /** Whether to return the probability of each token. */
  readonly probabilities?: boolean | undefined
}

/** A finished completion. */
export interface Completed {
  /** All sampled tokens, including the one that ended the completion. */
  readonly tokens: ReadonlyArray<Token>
  /** The probability of each token; empty unless requested. */
  readonly probabilities: ReadonlyArray<number>
  readonly text: string
  readonly reason: FinishReason
  readonly reused: number
}

// -------------------------------------------------------------------------------------------------------------------
// Grammar
// -------------------------------------------------------------------------------------------------------------------

/** The constraint that a grammar applies to a completion. */
interface Hold {
  /** Returns the grammar's state; `undefined` while the text is unconstrained. */
  readonly state: () => LlamaGrammarEvaluationState | undefined
  /** Called after each token with the text and the number of tokens. */
  readonly look: (written: () => string, tokens: number) => Promise<void> | undefined
}

const holdOf = (request: Request): Promise<Hold | undefined> =>
  request.forced === undefined ? workflowHold(request) : forcedHold(request.forced)

const forcedHold = async ({ by, of }: NonNullable<Request["forced"]>): Promise<Hold> => {
  let state: LlamaGrammarEvaluationState | undefined
  const begin = async (source: string) => {
    state = (await of(source))()
  }
  const look = (text: string) => {
    const source = by(text)
    return source === undefined ? undefined : begin(source)
  }
  await look("")
  return { state: () => state, look: (written) => (state === undefined ? look(written()) : undefined) }
}

/** Creates the constraint for a workflow. It ends unconstrained text when its token limit is reached. */
const workflowHold = async ({ format, grammar }: Request): Promise<Hold | undefined> => {
  if (format === undefined || grammar === undefined) return undefined
  const { type: _, ...rules } = format
  const start = await grammar.of(WorkflowGrammar.make(rules))
  let state = start()
  /** Only the lists may follow, unless they have already started. */
  const endReasoning = async (text: string) => {
    const rest = WorkflowGrammar.afterReasoning(rules, text)
    if (rest !== undefined) state = (await grammar.of(rest))()
  }
  return {
    state: () => state,
    look: (written, tokens) => (tokens === grammar.reasoningLimit ? endReasoning(written()) : undefined)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The loop
// -------------------------------------------------------------------------------------------------------------------

/** Collects the generated text and detects its end. */
const writer = (model: LlamaModel, { format, grammar, stopSequences }: Request, emit: (text: string) => void) => {
  const detokenizer = Output.detokenizer(model)
  const stopper = Output.stopper(stopSequences)
  let text = ""
  let isOver = false
  const add = (piece: string) => {
    if (piece === "") return
    text += piece
    emit(piece)
  }
  const write = (piece: string) => {
    const shown = stopper.push(piece)
    const span =
      format !== undefined && (shown.text.includes("]") || (format.mayAnswer === true && shown.text.includes('"')))
        ? WorkflowGrammar.span(text + shown.text, text.length, format)
        : undefined
    isOver = shown.isStopped || span !== undefined
    add(span === undefined ? shown.text : shown.text.slice(0, span.end - text.length))
  }
  return {
    text: () => text,
    /** The entire text, with a placeholder for an incomplete character. */
    written: () => `${text}${stopper.rest()}${detokenizer.isPending() ? "\ufffd" : ""}`,
    /** Appends a token and returns whether it ends the completion. */
    push: (token: Token): boolean => {
      write(detokenizer.push(token))
      return isOver
    },
    finish: (reason: FinishReason) => {
      if (!isOver) write(detokenizer.flush())
      if (!isOver) add(stopper.rest())
      if (reason === "length" && format !== undefined && grammar !== undefined)
        add(WorkflowGrammar.ending(text, format))
    }
  }
}

/** Samples a completion on a slot, calling `emit` with each piece of text. */
export const run = async (
  self: Sequences.Sequences,
  slot: Sequences.Slot,
  request: Request,
  signal: AbortSignal,
  emit: (text: string) => void
): Promise<Completed> => {
  const { model } = self.context
  // Sampling starts while other runs are evaluated, because a run that is not ready for a batch has to wait for the
  // next one.
  const [{ rest, reused }, hold] = await Promise.all([
    Sequences.prepare(self, slot, request.prompt, signal),
    holdOf(request)
  ])
  const tokens: Array<Token> = []
  const probabilities: Array<number> = []
  const out = writer(model, request, emit)
  let reason: FinishReason = "length"
  const sampled = slot.sequence.evaluateWithMetadata(
    rest as Array<Token>,
    { confidence: request.probabilities === true } as { readonly confidence: true },
    defined({
      ...request.sampling,
      seed: request.seed,
      yieldEogToken: true,
      // node-llama-cpp's types do not permit undefined options.
      grammarEvaluationState: hold?.state
    })
  )
  self.counts.evaluated += rest.length
  if (!signal.aborted) {
    for await (const { confidence, token } of sampled) {
      tokens.push(token)
      self.counts.sampled++
      if (request.probabilities) probabilities.push(confidence)
      const isEnd = model.isEogToken(token) || request.stopTokens.has(token)
      if (isEnd || out.push(token)) {
        reason = "stop"
        break
      }
      if (signal.aborted || tokens.length >= request.limit) break
      const change = hold?.look(out.written, tokens.length)
      if (change !== undefined) await change
    }
  }
  out.finish(reason)
  return { tokens, probabilities, text: out.text(), reason, reused }
}

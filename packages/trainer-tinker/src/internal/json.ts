/** JSON encoding of training requests and results. It cannot represent numbers that are not finite. */
import type { Batch, BatchResult, Datum, Numbers, SampleResult, Sequence } from "../Protocol.ts"

const listOf = (numbers: Numbers): string =>
  Array.isArray(numbers) ? JSON.stringify(numbers) : `[${(numbers as Float32Array).join(",")}]`

const tensor = (numbers: Numbers, dtype: "int64" | "float32"): string =>
  `{"data":${listOf(numbers)},"dtype":"${dtype}","shape":[${numbers.length}]}`

const datum = ({ chunks, inputs }: Datum): string => {
  const { target_tokens, ...floats } = inputs
  const pieces = chunks.map((tokens) => `{"type":"encoded_text","tokens":${JSON.stringify(tokens)}}`)
  const tensors = Object.entries(floats).map(([name, numbers]) => `"${name}":${tensor(numbers, "float32")}`)
  const targets = `"target_tokens":${tensor(target_tokens, "int64")}`
  return `{"model_input":{"chunks":[${pieces}]},"loss_fn_inputs":{${[targets, ...tensors]}}}`
}

/** Encodes a batch, without the model and the sequence number, which are added when it is sent. */
export const batch = ({ config, data, loss }: Batch): string => {
  const settings = config === undefined ? "" : `,"loss_fn_config":${JSON.stringify(config)}`
  return `{"loss_fn":"${loss}"${settings},"data":[${data.map(datum)}]}`
}

interface TensorReply {
  readonly data?: ReadonlyArray<number> | undefined
}

interface BatchReply {
  readonly loss_fn_outputs?: ReadonlyArray<Readonly<Record<string, TensorReply>>> | undefined
  readonly metrics?: Readonly<Record<string, number>> | null | undefined
}

/** Parses the result for a batch; returns `undefined` for any other value. */
export const readBatch = (reply: unknown): BatchResult | undefined => {
  const { loss_fn_outputs: outputs, metrics } = (reply ?? {}) as BatchReply
  if (!Array.isArray(outputs)) return undefined
  const logProbs = (outputs as NonNullable<BatchReply["loss_fn_outputs"]>).map(({ logprobs }) => logprobs?.data ?? [])
  return { logProbs, metrics: metrics ?? {}, fields: Object.keys(outputs[0] ?? {}) }
}

interface SampleReply {
  readonly sequences?:
    | ReadonlyArray<{
        readonly tokens: ReadonlyArray<number>
        readonly logprobs?: ReadonlyArray<number> | null | undefined
        readonly stop_reason: string
      }>
    | undefined
  readonly prompt_logprobs?: ReadonlyArray<number | null> | null | undefined
}

/** Aligns log-probabilities with the prompt: SkyRL's JAX engine omits the first token, which has none. */
const aligned = (logProbs: ReadonlyArray<number | null>, promptLength: number) =>
  logProbs.length === promptLength - 1 ? [null, ...logProbs] : logProbs

/** Parses samples; returns `undefined` if the reply contains none. */
export const readSamples = (reply: unknown, promptLength: number): SampleResult | undefined => {
  const { prompt_logprobs: ofPrompt, sequences } = (reply ?? {}) as SampleReply
  if (!Array.isArray(sequences)) return undefined
  const read = (sequences as NonNullable<SampleReply["sequences"]>).map(
    ({ logprobs, stop_reason, tokens }): Sequence => ({
      tokens,
      logProbs: logprobs ?? [],
      reason: stop_reason === "length" ? "length" : "stop"
    })
  )
  return {
    sequences: read,
    promptLogProbs: ofPrompt === null || ofPrompt === undefined ? undefined : aligned(ofPrompt, promptLength)
  }
}

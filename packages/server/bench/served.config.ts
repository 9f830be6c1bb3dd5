/** Configuration of `divisi serve` in the bench: one worker over the lean wire, and a one-step plan. */
import { openaiCompatible } from "@divisi/providers-openai"

export default {
  pool: [
    openaiCompatible({
      id: "up",
      baseURL: `http://127.0.0.1:${process.env.UPSTREAM_PORT}/v1`,
      model: "stand-in",
      apiKey: "none",
      pricing: { inputPerMillion: 1, outputPerMillion: 2 }
    })
  ],
  policy: "single:up"
}

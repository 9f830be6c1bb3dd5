import { BatchContract } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openai, openaiChat } from "../src/index.ts"

const contract = (name: string, make: typeof openai | typeof openaiChat) =>
  BatchContract.contract({
    name,
    vendor: "openai",
    make: ({ baseURL, ...more }) => make("gpt-5", { baseURL: `${baseURL}/v1`, ...more }),
    direct: ({ baseURL, ...more }) => make("gpt-5", { baseURL: `${baseURL}/v1`, ...more }),
    findsByName: true,
    describe,
    it
  })

contract("openai", openai)
contract("openaiChat", openaiChat)

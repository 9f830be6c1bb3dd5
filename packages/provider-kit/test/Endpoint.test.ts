import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Endpoint from "../src/Endpoint.ts"
import { Failure } from "../src/VendorError.ts"

const refusal = (options: Partial<Endpoint.Options>): string => {
  try {
    Endpoint.make({ worker: "acme:tiny", ...options })
  } catch (error) {
    assert.instanceOf(error, TypeError)
    return error.message
  }
  return assert.fail("the base URL was taken")
}

describe("a base URL", () => {
  afterEach(() => vi.unstubAllEnvs())

  it("with a user or a password is refused, and shows neither", () => {
    for (const baseURL of ["http://me:hunter2@host/v1", "https://hunter2@host", "http://:hunter2@host"]) {
      assert.strictEqual(
        refusal({ baseURL }),
        'acme:tiny: the base URL (baseURL) contains a user name or password. Pass credentials as "apiKey" or in "headers".'
      )
    }
  })

  it("of the environment is refused for the same, by the name of its variable", () => {
    vi.stubEnv("ACME_BASE_URL", "http://me:hunter2@host/v1")
    const message = refusal({ variables: ["OTHER_BASE_URL", "ACME_BASE_URL"] })
    assert.include(message, "(ACME_BASE_URL)")
    assert.notInclude(message, "hunter2")
  })

  it("that is not an HTTP address is refused without being shown", () => {
    for (const baseURL of ["me:hunter2@host/v1", "host/v1?token=hunter2", "ftp://hunter2/", ""]) {
      const message = refusal({ baseURL })
      assert.include(message, "must begin with http:// or https://")
      assert.notInclude(message, "hunter2")
    }
  })

  it("is the option before it is a variable, and the vendor's own where neither is set", () => {
    vi.stubEnv("ACME_BASE_URL", " http://of.env/v1 ")
    const of = (baseURL?: string) =>
      Endpoint.make({ worker: "a", baseURL, variables: ["UNSET_BASE_URL", "ACME_BASE_URL"] }).baseURL
    assert.strictEqual(of("https://given/v1/"), "https://given/v1")
    assert.strictEqual(of(), "http://of.env/v1")
    assert.isUndefined(Endpoint.make({ worker: "a", variables: ["UNSET_BASE_URL"] }).baseURL)
  })

  it("has secrets in its query and its path, in addition to the key and the headers", () => {
    const { baseURL, secrets } = Endpoint.make({
      worker: "acme:tiny",
      baseURL: "https://gateway/v1/3f9a77c20bd14e0f8a1b2c3d/openai?token=hunter2&version=1#end",
      key: "sk-1",
      headers: { authorization: "Bearer opensesame", "x-mode": "fast" }
    })
    assert.strictEqual(baseURL, "https://gateway/v1/3f9a77c20bd14e0f8a1b2c3d/openai")
    const expected = ["sk-1", "hunter2", "3f9a77c20bd14e0f8a1b2c3d", "Bearer opensesame", "opensesame"]
    assert.deepStrictEqual(secrets, expected)
  })
})

interface Asked {
  readonly url: string | undefined
}

const withServer = async (
  answer: (response: http.ServerResponse) => void,
  use: (url: string, asked: ReadonlyArray<Asked>) => Promise<void>
) => {
  const asked: Array<Asked> = []
  const server = http.createServer(({ url }, response) => {
    asked.push({ url })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

describe("its requests", () => {
  it("carry the query of the base URL in addition to their own", () =>
    withServer(
      (response) => response.end(),
      async (url, asked) => {
        const { fetch } = Endpoint.make({ worker: "a", baseURL: `${url}/v1?token=hunter2` })
        await fetch(`${url}/v1/models?alt=sse`)
        assert.deepStrictEqual(asked, [{ url: "/v1/models?alt=sse&token=hunter2" }])
      }
    ))

  it.each([301, 302, 303, 307, 308])("follow no redirect of status %d, and say where it points", (status) =>
    withServer(
      (response) => response.writeHead(status, { location: "//other.example:81/a?key=hunter2" }).end("moved"),
      async (url, asked) => {
        const failure = await Endpoint.fetchWithoutRedirects()(`${url}/v1`).catch((error: unknown) => error)
        assert.instanceOf(failure, Failure)
        assert.deepStrictEqual(failure.reason, {
          _tag: "Malformed",
          detail: "it redirects to http://other.example:81, which is not followed",
          remedy: "if the API is there, set baseURL"
        })
        assert.lengthOf(asked, 1)
      }
    )
  )

  it("refuse an answer that a fetch of the caller's was redirected to", () =>
    withServer(
      (response) => response.writeHead(302, { location: "/b" }).end(),
      async (url) => {
        const moved = Object.defineProperty(new Response("ok"), "redirected", { value: true })
        const failure = await Endpoint.fetchWithoutRedirects(async () => moved)(url).catch((error: unknown) => error)
        assert.instanceOf(failure, Failure)
      }
    ))

  it("read no more than a megabyte of an error that has no end", () =>
    withServer(
      (response) => {
        response.writeHead(500, { "retry-after": "1" })
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
          response.once("drain", more)
        }
        more()
      },
      async (url) => {
        const response = await Endpoint.fetchWithoutRedirects()(url)
        assert.strictEqual(response.status, 500)
        assert.strictEqual(response.headers.get("retry-after"), "1")
        const { length } = await response.text()
        assert.isAtLeast(length, 1024 * 1024)
        assert.isAtMost(length, 2 * 1024 * 1024)
      }
    ))
})

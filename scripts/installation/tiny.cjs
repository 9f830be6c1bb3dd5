// As tiny.mjs, in a project without modules: Node loads them by `require`.
const { conduct } = require("@divisi/core/promise")
const { make } = require("@divisi/gym/GymPool")
const { tiny } = require("@divisi/policy-tiny")

const pool = make({ latencyMillis: 0 }).workers
conduct({ question: "How many minutes are there in 3 days?", policy: tiny(), pool }).then(({ answer }) => {
  console.log(answer)
  if (answer !== "4320") process.exitCode = 1
})

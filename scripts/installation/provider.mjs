// Loads a provider package as its user does, and makes a worker of it: no call, no key.
const [name, constructor, model] = process.argv.slice(2)
const { [constructor]: make } = await import(name)
const worker = make(model, { apiKey: "none" })
console.log(`${worker.id}: ${worker.pricing === undefined ? "of unknown price" : "priced"}`)

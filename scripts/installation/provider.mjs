// Loads a provider package as a user would, and creates a worker. Makes no calls and needs no key.
const [name, constructor, model] = process.argv.slice(2)
const { [constructor]: make } = await import(name)
const worker = make(model, { apiKey: "none" })
console.log(`${worker.id}: ${worker.pricing === undefined ? "of unknown price" : "priced"}`)

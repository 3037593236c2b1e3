// The tools of the fixture. The Go and the Python plugin beside it have the same.
'use strict'

const { Failure, serve } = require('./contract.js')

const PIXEL = Buffer.from(
  '89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02' +
    '0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082',
  'hex',
)
const UNIT = '0123456789 äöü € 😀 ' // of large texts; it has letters of one to four bytes
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

const json = (value) => Buffer.from(JSON.stringify(value))
const text = (words, fields) => ({ content: [{ text: words }], ...fields })
const value = (content) => ({ content: [{ json: Buffer.isBuffer(content) ? content : json(content) }] })
const parsed = async (call) => JSON.parse(await call.arguments())

async function echo(call) {
  return value(await call.arguments())
}

async function describe_call(call) {
  await call.arguments()
  const { session, workspace, values, secrets, traceparent } = call.context
  const decoded = Object.fromEntries(Object.entries(values).map(([key, v]) => [key, JSON.parse(v)]))
  return value({ call_id: call.id, attempt: call.attempt, session, workspace, values: decoded, secrets, traceparent })
}

async function large(call) {
  const blocks = (await parsed(call)).blocks.map(({ kind, units }) => {
    if (kind === 'text') return { text: UNIT.repeat(units) }
    if (kind === 'json') return { json: json(UNIT.repeat(units)) }
    const data = Buffer.alloc(BYTES.length * units, BYTES)
    return { file: { media_type: 'application/octet-stream', name: 'large.bin', data } }
  })
  return { content: blocks }
}

async function fail(call) {
  return text((await parsed(call)).message, { is_error: true })
}

async function break_down(call) {
  const { kind, message, retry_after } = await parsed(call)
  throw kind === 'BUG' ? new Error(message) : new Failure(kind, message, retry_after)
}

async function effects(call) {
  await call.arguments()
  const effect = (key, operation, v) => ({ key, operation: 'EFFECT_OPERATION_' + operation, value: json(v) })
  return {
    effects: [effect('plan', 'REPLACE', 'walk'), effect('seen', 'APPEND', { n: 7 }), effect('tree', 'MERGE', { leaf: null })],
    metadata: { source: json('fixture') },
    cost: 0.25,
    usage: { input_tokens: 11, output_tokens: 5 },
  }
}

async function image(call) {
  await call.arguments()
  return { content: [{ image: { media_type: 'image/png', name: 'pixel.png', data: PIXEL } }] }
}

async function steps(call) {
  await call.arguments()
  await call.status({ state: 'WAIT', message: 'about to begin', parameters: json({ a: { x: 1 }, n: 1 }) })
  await call.status({ state: 'DOING', message: 'at work', parameters: json({ a: { y: 2 } }) })
  await call.progress({ done: 1, total: 3, message: 'a third' })
  await call.log('WARN', 'halfway', { left: json(2) })
  await call.progress({ done: 3, total: 3 })
  await call.status({ state: 'SUCCESS', message: 'done', parameters: json({ n: 2 }), result: json({ rows: 3 }) })
  return text('stepped')
}

// cut returns the member "text" of an object whose JSON ends anywhere, or undefined.
function cut(prefix) {
  const known = new TextDecoder().decode(prefix, { stream: true })
  for (const end of ['', '}', '"}']) {
    try {
      return JSON.parse(known + end).text
    } catch {
      // another end may fit
    }
  }
}

let opened = 0

async function draft(call) {
  const number = ++opened
  const previews = []
  for await (const prefix of call.prefixes()) {
    const seen = cut(prefix)
    if (seen && !previews.includes(seen)) {
      previews.push(seen)
      await call.status({ state: 'WAIT', parameters: json({ text: seen, object: number }) })
    }
  }
  const final = (await parsed(call)).text
  await call.status({ state: 'DOING' })
  await call.status({ state: 'SUCCESS' })
  return value({ text: final, previews, object: number })
}

async function wait(call) {
  await call.arguments()
  await call.status({ state: 'DOING', message: 'waiting' })
  await call.until(() => false)
}

const meetings = new Map()

async function meet(call) {
  const { room, count } = await parsed(call)
  if (!meetings.has(room)) meetings.set(room, new Set())
  const there = meetings.get(room)
  there.add(call)
  if (there.size === count) for (const other of there) other.wake()
  await call.until(() => there.size === count)
  return text(`met ${count}`)
}

// chatter says more than any credit allows at once, and then how much it was.
async function chatter(call) {
  const { count } = await parsed(call)
  for (let n = 0; n < count; n++) await call.log('DEBUG', `line ${n} ` + 'x'.repeat(1000))
  return text(`said ${count}`)
}

const tools = { echo, describe_call, large, fail, break_down, effects, image, steps, draft, wait, meet, chatter }

const spec = (name) => ({
  name,
  description: `Does what the test of ${name} needs.`,
  input_schema: json({ type: 'object' }),
  read_only: true,
  partial_arguments: name === 'draft',
  context_keys: name === 'describe_call' ? ['colour'] : [],
  effect_keys: name === 'effects' ? ['plan', 'seen', 'tree'] : [],
})

serve(
  process.argv[2],
  { name: 'bare', version: '1.2.3', description: 'A fixture.', default_tags: ['fixture'], tools: Object.keys(tools).map(spec) },
  tools,
)

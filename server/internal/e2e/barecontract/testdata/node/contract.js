// The plugin's half of toolhost.plugin.v1, written from the comments of plugin.proto alone.
//
// serve() is the whole life of a plugin: cookie, socket, handshake line, health, the stream of calls, and the end. A
// tool is an async function that gets a Call and returns a Result; everything that it may say meanwhile is a method of
// the Call.
'use strict'

const net = require('node:net')
const path = require('node:path')
const grpc = require('@grpc/grpc-js')
const protoLoader = require('@grpc/proto-loader')
const { HealthImplementation } = require('grpc-health-check')

const COOKIE = ['TOOLHOST_PLUGIN', 'f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11']
const VERSION = '1'
const PIECE = 64 << 10 // the most payload that a chunk may carry, and what the blocks of an end may have together

// Failure says that the machinery of a tool failed, which is no result. kind is a name of ErrorKind without its prefix.
class Failure extends Error {
  constructor(kind, message, retryAfter) {
    super(message)
    this.error = { kind: 'ERROR_KIND_' + kind, message }
    if (retryAfter) this.error.retry_after = duration(retryAfter)
  }
}

function duration(seconds) {
  const whole = Math.trunc(seconds)
  return { seconds: whole, nanos: Math.round((seconds - whole) * 1e9) }
}

// Call is one call, from its start to its end.
class Call {
  constructor(stream, number, start) {
    this.id = start.call_id
    this.tool = start.tool
    this.attempt = start.attempt || 1
    this.settle = start.settle
    this.context = start.context ?? { session: '', workspace: '', values: {}, secrets: {}, traceparent: '' }
    this.ended = new AbortController() // aborted with a Failure when the call is cancelled or out of time
    this.stream = stream
    this.number = number
    this.text = start.arguments
    this.complete = start.complete
    this.credit = start.credit
    this.wakers = [] // of those who wait for text or credit
    if (start.timeout) {
      const milliseconds = start.timeout.seconds * 1e3 + start.timeout.nanos / 1e6
      this.timer = setTimeout(() => this.stop(new Failure('TIMEOUT', "the call's time is up")), milliseconds)
    }
  }

  // until waits until the condition holds; it throws the Failure that ends the call.
  async until(condition) {
    for (;;) {
      this.ended.signal.throwIfAborted()
      if (condition()) return
      await new Promise((resolve) => this.wakers.push(resolve))
    }
  }

  wake() {
    for (const waker of this.wakers.splice(0)) waker()
  }

  stop(failure) {
    this.ended.abort(failure)
    this.wake()
  }

  // prefixes yields the argument text so far, each time that it has grown, until it is complete.
  async *prefixes() {
    let seen = -1
    while (!this.complete) {
      if (this.text.length > seen) {
        seen = this.text.length
        yield this.text
      }
      await this.until(() => this.complete || this.text.length > seen)
    }
  }

  // arguments returns the complete arguments' text.
  async arguments() {
    await this.until(() => this.complete)
    return this.text
  }

  async status({ state = 'UNSPECIFIED', ...fields }) {
    await this.send({ status: { state: 'STATUS_STATE_' + state, ...fields } })
  }

  async progress(progress) {
    await this.send({ progress })
  }

  async log(level, message, attributes = {}) {
    await this.send({ log: { level: 'LOG_LEVEL_' + level, message, attributes } })
  }

  // sendAhead sends the payloads that are too large for the end, and leaves their blocks empty.
  async sendAhead(result) {
    let room = PIECE
    for (const [index, block] of (result.content ?? []).entries()) {
      const kind = ['text', 'json', 'image', 'file'].find((k) => k in block)
      if (!kind) continue
      const [holder, field] = kind === 'image' || kind === 'file' ? [block[kind], 'data'] : [block, kind]
      const payload = Buffer.from(holder[field])
      if (payload.length <= room) {
        room -= payload.length
        continue
      }
      for (let at = 0; at < payload.length; at += PIECE) {
        await this.send({ chunk: { index, data: payload.subarray(at, at + PIECE) } })
      }
      holder[field] = kind === 'text' ? '' : Buffer.alloc(0)
    }
    return result
  }

  // send sends a frame once the credit is positive; the frame may take it below zero.
  async send(frame) {
    const bytes = this.stream.encode({ call: this.number, ...frame })
    await this.until(() => this.credit > 0)
    this.credit -= bytes.length
    await this.stream.write(bytes)
  }

  // take takes a frame of toolhost's.
  take(request) {
    if (request.frame === 'credit') {
      this.credit += request.credit.bytes
    } else if (request.frame === 'append' && !this.complete) {
      this.text = Buffer.concat([this.text, request.append.text])
    } else if (request.frame === 'complete' && !this.complete) {
      if (request.complete.arguments.length > 0) this.text = request.complete.arguments
      this.complete = true
    } else if (request.frame === 'cancel') {
      this.stop(new Failure('CANCELLED', request.cancel.reason || 'the call was cancelled'))
    }
    this.wake()
  }
}

// Stream is one Connect stream: its calls by their numbers.
class Stream {
  constructor(tools, duplex, encode) {
    this.tools = tools
    this.duplex = duplex
    this.encode = encode
    this.calls = new Map() // those without an end
  }

  dispatch(request) {
    if (request.frame === 'start') {
      const call = new Call(this, request.call, request.start)
      this.calls.set(request.call, call)
      this.execute(call)
    } else {
      this.calls.get(request.call)?.take(request)
    }
  }

  async execute(call) {
    let end
    try {
      end = { result: await this.outcome(call) }
    } catch (failure) {
      if (!(failure instanceof Failure)) console.error(failure)
      end = { error: failure.error ?? { kind: 'ERROR_KIND_INTERNAL', message: `${call.tool}: ${failure}` } }
    }
    clearTimeout(call.timer)
    this.calls.delete(call.number)
    await this.write(this.encode({ call: call.number, end }))
  }

  async outcome(call) {
    const tool = Object.hasOwn(this.tools, call.tool) && this.tools[call.tool]
    if (!tool) throw new Failure('NOT_FOUND', `there is no tool ${JSON.stringify(call.tool)}`)
    if (call.settle) throw new Failure('UNSUPPORTED', `${JSON.stringify(call.tool)} cannot say what became of a call`)
    return call.sendAhead(await tool(call))
  }

  // write hands an encoded frame to gRPC, and waits while that has too many.
  async write(bytes) {
    if (this.duplex.write(bytes)) return
    this.drained ??= new Promise((resolve) => this.duplex.once('drain', resolve)).then(() => (this.drained = undefined))
    await this.drained
  }

  close() {
    for (const call of this.calls.values()) call.stop(new Failure('CANCELLED', 'toolhost is gone'))
  }
}

// controller is go-plugin's. Its messages have no fields, so that it needs no .proto.
const empty = () => Buffer.alloc(0)
const controller = {
  Shutdown: {
    path: '/plugin.GRPCController/Shutdown',
    requestStream: false,
    responseStream: false,
    requestSerialize: empty,
    requestDeserialize: empty,
    responseSerialize: empty,
    responseDeserialize: empty,
  },
}

// serve runs the plugin until toolhost ends it or is gone. tools are async functions by name; protos is the folder with
// the contract.
function serve(protos, description, tools) {
  if (process.env[COOKIE[0]] !== COOKIE[1]) {
    console.error(`${description.name} is a plugin of toolhost, which runs it; it does nothing by itself`)
    process.exit(1)
  }
  if (!(process.env.PLUGIN_PROTOCOL_VERSIONS ?? VERSION).split(',').includes(VERSION)) {
    console.error(`${description.name} speaks version ${VERSION} of toolhost's contract, and toolhost does not`)
    process.exit(1)
  }
  const options = { includeDirs: [protos], keepCase: true, enums: String, longs: Number, defaults: true, oneofs: true }
  const loaded = protoLoader.loadSync('toolhost/plugin/v1/plugin.proto', options)
  const service = loaded['toolhost.plugin.v1.ToolPluginService']
  const encode = service.Connect.responseSerialize // a frame's size is its cost, so that frames are encoded before gRPC
  const server = new grpc.Server()
  const over = () => {
    server.forceShutdown()
    process.exit(0)
  }
  server.addService(
    { ...service, Connect: { ...service.Connect, responseSerialize: (bytes) => bytes } },
    {
      Describe(call, answer) {
        const wanted = call.request.tools
        const chosen = description.tools.filter((tool) => wanted.length === 0 || wanted.includes(tool.name))
        answer(null, { ...description, tools: chosen })
      },
      Connect(duplex) {
        const stream = new Stream(tools, duplex, encode)
        duplex.on('data', (request) => stream.dispatch(request))
        duplex.on('error', () => {}) // what ends the stream ends the plugin, below
        for (const event of ['end', 'cancelled', 'close']) {
          duplex.on(event, () => {
            stream.close()
            over()
          })
        }
      },
    },
  )
  server.addService(controller, {
    Shutdown(_, answer) {
      answer(null, null)
      setImmediate(over)
    },
  })
  new HealthImplementation({ plugin: 'SERVING' }).addToServer(server)
  const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, 's')
  // gRPC does not tell when a connection ends, so that this listens itself. There is one, and it is all of toolhost.
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())
  const listener = net.createServer((connection) => {
    connection.on('close', over)
    injector.injectConnection(connection)
  })
  listener.listen(socket, () => process.stdout.write(`1|${VERSION}|unix|${socket}|grpc\n`))
}

module.exports = { Failure, serve }

package conformance

// definition is the constant part of a check.
type definition struct{ id, title, contract, remedy string }

// These are the places in the contract that checks refer to.
const (
	pluginProto = "proto/toolhost/plugin/v1/plugin.proto, "
	specProto   = "proto/toolhost/tool/v1/spec.proto, "
	statusProto = "proto/toolhost/tool/v1/status.proto, "
	resultProto = "proto/toolhost/tool/v1/result.proto, "
)

// definitions returns all checks in the order of a report.
func definitions() []definition {
	return append(append(startDefinitions(), streamDefinitions()...), lastDefinitions()...)
}

func startDefinitions() []definition {
	return []definition{
		{"start.handshake", "prints its handshake as the first line of standard output, and flushes it", pluginProto + "Handshake",
			"print 1|VERSION|unix|SOCKET|grpc and a line feed once the socket listens, flush standard output, and print nothing before it: log to standard error"},
		{"start.fields", "declares version 1 of go-plugin, a unix socket and gRPC", pluginProto + "Handshake",
			"print exactly 1|VERSION|unix|SOCKET|grpc; only VERSION and SOCKET differ"},
		{"start.version", "selects the highest version of the contract that both sides support", pluginProto + "Start, PLUGIN_PROTOCOL_VERSIONS",
			"answer with the highest number in PLUGIN_PROTOCOL_VERSIONS, a comma-separated list, that the plugin supports, and ignore the others"},
		{"start.socket", "creates its socket in the given folder, with a short name", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"listen on a socket directly in PLUGIN_UNIX_SOCKET_DIR, with a name of at most 16 bytes"},
		{"start.tls", "listens without TLS and names no certificate", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"serve without TLS, whatever PLUGIN_CLIENT_CERT says, and leave out the handshake's sixth field"},
		{"start.listener", "listens in its own process when it prints the handshake", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"listen before the handshake is printed, in the process that toolhost started or one that it started; let a launcher script end with `exec`"},
		{"start.health", "answers the health check of the service `plugin` with SERVING", pluginProto + "Services",
			"serve grpc.health.v1.Health and set the status of the service named `plugin` to SERVING before the handshake is printed"},
		{"start.by_hand", "describes itself on standard error and exits with 1 when a person starts it", pluginProto + "Start, TOOLHOST_PLUGIN",
			"if TOOLHOST_PLUGIN does not have the value in the contract, describe the program on standard error and exit with code 1"},
		{"start.unknown_version", "prints the reason and exits with 1 when no version of the contract is supported by both sides", pluginProto + "Start, PLUGIN_PROTOCOL_VERSIONS",
			"if the plugin supports no version in PLUGIN_PROTOCOL_VERSIONS, print that on standard error and exit with code 1, without a handshake"},

		{"describe.answer", "answers Describe within seconds, before and during the stream of calls", pluginProto + "Describe",
			"implement Describe without the network and without waiting for anything"},
		{"describe.same", "returns the same description each time", pluginProto + "Describe",
			"keep the order of tools, and omit times, counters and random values; use a dynamic tool for what differs by session"},
		{"describe.selection", "describes only the requested tools, and ignores unknown names", pluginProto + "DescribeRequest.tools",
			"if DescribeRequest.tools is set, return those of these tools that the plugin has"},
		{"describe.side_effects", "changes nothing when it starts and describes itself", pluginProto + "Describe",
			"do nothing in the workspace before a tool is called; keep what the plugin needs in TMPDIR"},
		{"describe.plugin", "has a valid name, the one in its plugin.yaml", pluginProto + "DescribeResponse.name",
			"name the plugin with 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter"},
		{"describe.tools", "has tools or filters with valid, unique names and with descriptions; its filters apply only to its own tools", specProto + "ToolSpec.name, description",
			"give each tool and filter a name of 1 to 64 of A-Z a-z 0-9 _ - beginning with a letter, once, and each tool a description; name only tools of the plugin in FilterSpec.tools, each once"},
		{"describe.schemas", "has usable schemas, and input schemas of objects", specProto + "ToolSpec.input_schema, output_schema",
			"write self-contained JSON Schemas of 2020-12 or draft-07; the type of the input is object"},
		{"describe.examples", "has examples that fit its schemas", specProto + "ToolSpec.input_examples",
			"make each example a JSON object that fits the tool's input schema"},
		{"describe.declarations", "declares valid limits, metadata and permissions", specProto + "ToolSpec",
			"use positive durations, JSON values in metadata, absolute paths in permissions, and declarations that do not contradict each other"},
	}
}

func streamDefinitions() []definition {
	return []definition{
		{"stream.open", "accepts the stream of calls, and keeps it open", pluginProto + "Connect",
			"implement Connect as a bidirectional stream that ends only when toolhost ends it"},
		{"stream.unknown_tool", "answers a call of an unknown tool with NOT_FOUND", pluginProto + "StartCall",
			"end such a call with the error NOT_FOUND"},
		{"stream.incomplete", "does not end a call with incomplete arguments, and serves other calls meanwhile", pluginProto + "StartCall, AppendArguments",
			"collect argument text until `complete`; execute and end the call only then, and keep reading the stream"},
		{"stream.cancel_incomplete", "ends a call that is cancelled before its arguments are complete", pluginProto + "CancelCall",
			"answer `cancel` with `end` and the error CANCELLED, also while arguments are incomplete"},
		{"stream.ended", "ignores frames for calls that have ended", pluginProto + "Connect",
			"look the call up by its number and drop the frame if there is none"},
		{"stream.unknown_frames", "ignores unknown frames", pluginProto + "Connect",
			"ignore frames whose `frame` is not set: they belong to a later version of the contract"},

		{"calls.executed", "executes calls with valid arguments, and ends each in time", pluginProto + "StartCall, CallEnd",
			"end every call with one `end`, also if the tool fails; a failure of a tool must not end the process"},
		{"calls.end", "ends each call once, with an outcome, and sends nothing after it", pluginProto + "Connect, CallEnd",
			"send `end` exactly once, as the last frame of its call, with `result` or `error` set"},
		{"calls.statuses", "sends statuses in the allowed order", statusProto + "Status, StatusState",
			"go from WAIT to DOING to SUCCESS or ERROR, send nothing after those two, never decrease the progress, and make parameters a JSON object"},
		{"calls.logs", "sends log records with known levels and JSON attributes", statusProto + "LogRecord",
			"use the levels DEBUG to ERROR, and JSON values in attributes"},
		{"calls.pieces", "accepts arguments in pieces that end at any byte", pluginProto + "AppendArguments, CompleteArguments",
			"join the bytes of all pieces before decoding: a piece may end inside a character"},
		{"calls.replaced", "replaces earlier argument text by the arguments of `complete`", pluginProto + "CompleteArguments.arguments",
			"if CompleteArguments.arguments is set, execute those arguments and discard the earlier text"},
		{"calls.previews", "shows previews of incomplete arguments without executing them", specProto + "ToolSpec.partial_arguments",
			"send only statuses from a preview; end the call only after `complete` or `cancel`"},
		{"calls.side_by_side", "runs calls concurrently", pluginProto + "Connect",
			"handle each call outside of the loop that reads the stream, so that no call waits for another"},
		{"calls.garbage", "keeps running when arguments are not JSON", pluginProto + "Connect",
			"end such a call with an error result or INVALID_ARGUMENT; expect null bytes and invalid UTF-8"},
		{"calls.large_arguments", "accepts arguments of 1 MiB", pluginProto + "StartCall",
			"accept messages of 4 MiB and argument text of that size"},

		{"results.content", "sends results whose blocks are set and whose JSON is valid", resultProto + "Result, Content",
			"set one kind in each block, put JSON text into `json`, media types into blobs, and no effects into results with is_error"},
		{"results.chunks", "sends large results ahead in chunks of at most 64 KiB", pluginProto + "ContentChunk, GrantCredit",
			"send content of more than 64 KiB in chunks of at most 64 KiB, with an empty block of its kind at its place in `end`"},
		{"results.schema", "sends structured results that fit the tool's output schema, also in settlements", specProto + "ToolSpec.output_schema",
			"return a JSON block that fits the output schema, or change the schema"},

		{"settle.answer", "says in time what became of a call, for that call", pluginProto + "StartCall.settle, Settlement",
			"end a call with `settle` with a settlement that has the same call id; look up the record of the call, and change nothing"},
		{"settle.unused", "does not say that a call happened that never was", pluginProto + "SettlementVerdict",
			"say HAPPENED only if the tool has a record of this call id; otherwise DID_NOT_HAPPEN if that is certain, or UNKNOWN"},
		{"settle.executed", "does not say, in a later process, that a call did not happen that was executed", pluginProto + "SettlementVerdict",
			"record the call id where the effect happens, and not in memory; say DID_NOT_HAPPEN only if the call can have had no effect, and UNKNOWN in doubt"},
		{"settle.undeclared", "answers UNSUPPORTED for a tool that declares no settles, and executes nothing", pluginProto + "StartCall.settle",
			"before executing a call, look at `settle`: if it is set and the tool has no check, end the call with the error UNSUPPORTED"},

		{"flow.credit", "sends no more than the granted credit", pluginProto + "GrantCredit",
			"count the encoded size of each frame but `end`, and send the next one only while the credit is positive"},
		{"flow.waiting", "ends a call that waits for credit when it is cancelled", pluginProto + "GrantCredit",
			"wait for credit and for `cancel` at the same time"},
		{"flow.cancel", "ends a call that is cancelled while it runs", pluginProto + "CancelCall",
			"stop the work at `cancel`, and answer with `end`"},
		{"flow.deadline", "ends a call after its deadline", pluginProto + "StartCall.timeout",
			"stop the work after StartCall.timeout, and end the call with the error TIMEOUT"},
	}
}

func lastDefinitions() []definition {
	return []definition{
		{"output.stdout", "keeps serving when it prints on standard output after the handshake", pluginProto + "Handshake",
			"print messages on standard error; standard output is for the handshake"},

		{"end.shutdown", "exits with 0 within 5 s after Shutdown, also with open calls", pluginProto + "End",
			"serve plugin.GRPCController with Shutdown: cancel open calls, clean up, and exit with code 0"},
		{"end.stream", "exits with 0 within 5 s when the stream of calls ends", pluginProto + "End",
			"exit when Connect ends, for whatever reason"},
		{"end.connection_lost", "exits within 5 s when the connection breaks during a call", pluginProto + "End",
			"exit when Connect ends, for whatever reason"},
		{"end.no_stream", "exits within 5 s when the connection ends before a stream was opened", pluginProto + "End",
			"exit when the first connection ends: toolhost connects once"},
		{"end.processes", "leaves no processes behind when it exits", pluginProto + "End",
			"end all processes that the plugin started, and wait for them, before the plugin exits"},

		{"advice.descriptions", "describes what its tools are for in enough words for a model", "",
			"describe in a few sentences what the tool is for, when not to use it, and what it returns"},
		{"advice.parameters", "explains every parameter", "",
			"give each property a description: what it means, its format, an example"},
		{"advice.schemas", "declares schemas that a call can fit and that every model's API accepts", "",
			"correct the default, enum or list of required names; name parameters with at most 64 of a-z, A-Z, 0-9, _, . and -; put alternatives into a property instead of the root"},
		{"advice.examples", "has an example for each tool with parameters", "",
			"declare at least one of input_examples; this command can use it to call the tool"},
		{"advice.similar", "has tools whose descriptions differ", "",
			"merge the two tools, or say in both descriptions when to use which"},
		{"advice.dangerous", "declares tools with dangerous names as dangerous", "",
			"declare `dangerous`, so that a person must approve calls, or choose a name that does not suggest harm"},
		{"advice.read_only", "declares which tools change nothing or can be repeated", "",
			"declare `read_only` or `idempotent` if it is true: toolhost repeats only such calls, and records others on disk first"},
		{"advice.secrets", "does not ask a model for secrets", "",
			"name the secret in requires_auth: toolhost passes it to the tool, and the model never sees it"},
		{"advice.version", "has a version", "",
			"set the plugin's version: the lock file and the events of the plugin show it"},
	}
}

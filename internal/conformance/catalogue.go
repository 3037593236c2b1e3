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
			"print 1|VERSION|unix|SOCKET|grpc and a line's end once the socket listens, flush standard output, and print nothing before: log to standard error"},
		{"start.fields", "says version 1 of go-plugin, a unix socket and gRPC", pluginProto + "Handshake",
			"print exactly 1|VERSION|unix|SOCKET|grpc; only VERSION and SOCKET differ"},
		{"start.version", "takes the highest version of the contract that both sides know", pluginProto + "Start, PLUGIN_PROTOCOL_VERSIONS",
			"answer with the highest number of PLUGIN_PROTOCOL_VERSIONS, a list with commas, that the plugin knows, and ignore the ones that it does not"},
		{"start.socket", "makes its socket in the folder it was given, with a short name", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"listen on a socket right in PLUGIN_UNIX_SOCKET_DIR, whose name has at most 16 bytes"},
		{"start.tls", "listens without TLS and names no certificate", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"serve without TLS, whatever PLUGIN_CLIENT_CERT says, and leave out the handshake's sixth field"},
		{"start.listener", "listens by itself, from its handshake on", pluginProto + "Start, PLUGIN_UNIX_SOCKET_DIR",
			"listen before the handshake is printed, in the process that toolhost started or one that it started; let a launcher script end with `exec`"},
		{"start.health", "answers the health check of the service `plugin` with SERVING", pluginProto + "Services",
			"serve grpc.health.v1.Health and set the status of the service named `plugin` to SERVING before the handshake is printed"},
		{"start.by_hand", "says what it is on standard error and exits with 1 when a person starts it", pluginProto + "Start, TOOLHOST_PLUGIN",
			"when TOOLHOST_PLUGIN is not the value in the contract, say on standard error what the program is and exit with code 1"},
		{"start.unknown_version", "says so and exits with 1 when no version is known to both sides", pluginProto + "Start, PLUGIN_PROTOCOL_VERSIONS",
			"when PLUGIN_PROTOCOL_VERSIONS has no version that the plugin knows, say so on standard error and exit with code 1, without a handshake"},

		{"describe.answer", "answers Describe within seconds, before and beside the stream", pluginProto + "Describe",
			"implement Describe without the network and without waiting for anything"},
		{"describe.same", "says the same each time it is asked", pluginProto + "Describe",
			"keep the order of tools, and leave times, counters and random values out; what differs by session belongs into dynamic tools"},
		{"describe.selection", "leaves out tools that were not asked for, and ignores names it does not have", pluginProto + "DescribeRequest.tools",
			"with DescribeRequest.tools, return those of them that the plugin has"},
		{"describe.side_effects", "changes nothing when it is started and asked what it is", pluginProto + "Describe",
			"do nothing in the workspace before a tool is called; keep what the plugin needs in TMPDIR"},
		{"describe.plugin", "has a valid name, and says the one of its plugin.yaml", pluginProto + "DescribeResponse.name",
			"name the plugin with 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter"},
		{"describe.tools", "has tools or filters, with valid names that do not repeat, and descriptions", specProto + "ToolSpec.name, description",
			"give each tool and filter a name of 1 to 64 of A-Z a-z 0-9 _ - beginning with a letter, once, and each tool a description"},
		{"describe.schemas", "has schemas that can be used, of objects", specProto + "ToolSpec.input_schema, output_schema",
			"write JSON Schema 2020-12 or draft-07 that stands alone; the input's type is object"},
		{"describe.examples", "has examples that its own schemas allow", specProto + "ToolSpec.input_examples",
			"make each example a JSON object that fits the tool's input schema"},
		{"describe.declarations", "declares limits, metadata and permissions that make sense", specProto + "ToolSpec",
			"use positive durations, JSON values in metadata, absolute paths in permissions, and do not contradict one declaration by another"},
	}
}

func streamDefinitions() []definition {
	return []definition{
		{"stream.open", "takes the stream that carries calls, and keeps it open", pluginProto + "Connect",
			"implement Connect as a bidirectional stream that ends only when toolhost ends it"},
		{"stream.unknown_tool", "answers a call of a tool that it does not have with NOT_FOUND", pluginProto + "StartCall",
			"end such a call with the error NOT_FOUND"},
		{"stream.incomplete", "does not end a call whose arguments are incomplete, and goes on with others meanwhile", pluginProto + "StartCall, AppendArguments",
			"gather argument text until `complete`; execute and end only then, and keep reading the stream meanwhile"},
		{"stream.cancel_incomplete", "ends a call that is cancelled before its arguments are complete", pluginProto + "CancelCall",
			"answer `cancel` with `end` and the error CANCELLED, also while arguments are still to come"},
		{"stream.ended", "ignores frames for calls that have ended", pluginProto + "Connect",
			"look the call up by its number and drop the frame if there is none"},
		{"stream.unknown_frames", "ignores frames that it does not know", pluginProto + "Connect",
			"drop frames whose `frame` is not set: they are of a newer contract"},

		{"calls.executed", "executes calls with valid arguments, and ends each in time", pluginProto + "StartCall, CallEnd",
			"end every call with one `end`, also if the tool fails; let no failure of a tool end the process"},
		{"calls.end", "ends each call once, with an outcome, and says nothing after it", pluginProto + "Connect, CallEnd",
			"send `end` exactly once, as the last frame of its call, with `result` or `error` set"},
		{"calls.statuses", "sends statuses that only go forward", statusProto + "Status, StatusState",
			"go from WAIT to DOING to SUCCESS or ERROR, send nothing after those two, let progress never fall, and make parameters a JSON object"},
		{"calls.logs", "sends log records with known levels and JSON attributes", statusProto + "LogRecord",
			"use the levels DEBUG to ERROR, and JSON values in attributes"},
		{"calls.pieces", "takes arguments in pieces that end anywhere", pluginProto + "AppendArguments, CompleteArguments",
			"join the bytes of all pieces before they are decoded: a piece may end inside a character"},
		{"calls.replaced", "takes the arguments of `complete` in place of the text before", pluginProto + "CompleteArguments.arguments",
			"when CompleteArguments.arguments is set, execute those and forget the text so far"},
		{"calls.previews", "shows previews of incomplete arguments without executing them", specProto + "ToolSpec.partial_arguments",
			"let a preview send statuses alone; end the call only after `complete` or `cancel`"},
		{"calls.side_by_side", "runs calls side by side", pluginProto + "Connect",
			"handle each call apart from the loop that reads the stream, so that none waits for another"},
		{"calls.garbage", "keeps running when arguments are no JSON", pluginProto + "Connect",
			"end such a call, by a result that says so or by INVALID_ARGUMENT; expect null bytes and what is no UTF-8"},
		{"calls.large_arguments", "takes arguments of 1 MiB", pluginProto + "StartCall",
			"accept messages of 4 MiB, and bound argument text by no less"},

		{"results.content", "has results whose blocks are set and whose JSON is JSON", resultProto + "Result, Content",
			"set one kind in each block, put JSON text into `json`, media types into blobs, and no effects into results with is_error"},
		{"results.chunks", "sends large results ahead in chunks of at most 64 KiB", pluginProto + "ContentChunk, GrantCredit",
			"send content of more than 64 KiB in chunks of at most 64 KiB, with an empty block of its kind at its place in `end`"},
		{"results.schema", "has structured results that fit the tool's output schema", specProto + "ToolSpec.output_schema",
			"make the JSON block what the output schema promises, or promise less"},

		{"flow.credit", "sends only as much as it was granted", pluginProto + "GrantCredit",
			"count the encoded size of each frame but `end`, and send the next one only while the credit is positive"},
		{"flow.waiting", "ends a call that waits for credit when it is cancelled", pluginProto + "GrantCredit",
			"wait for credit and for `cancel` at the same time"},
		{"flow.cancel", "ends a call that is cancelled while it runs", pluginProto + "CancelCall",
			"stop the work at `cancel`, and answer with `end`"},
		{"flow.deadline", "ends a call whose time is over", pluginProto + "StartCall.timeout",
			"stop the work when StartCall.timeout is over, and end the call with the error TIMEOUT"},
	}
}

func lastDefinitions() []definition {
	return []definition{
		{"output.stdout", "serves on whatever it prints on standard output after the handshake", pluginProto + "Handshake",
			"print what is for people on standard error: standard output is the handshake's"},

		{"end.shutdown", "exits with 0 within 5 s when it is told to shut down, also if calls are open", pluginProto + "End",
			"serve plugin.GRPCController with Shutdown, and exit with code 0 there: cancel open calls, clean up, and wait for nobody"},
		{"end.stream", "exits with 0 within 5 s when the stream of calls ends", pluginProto + "End",
			"exit when Connect returns, whether toolhost ended it or it broke"},
		{"end.connection_lost", "exits within 5 s when the connection is cut with a call open", pluginProto + "End",
			"exit when Connect returns, whether toolhost ended it or it broke"},
		{"end.no_stream", "exits within 5 s when the connection ends before there was a stream", pluginProto + "End",
			"exit when the first connection ends: toolhost connects once"},
		{"end.processes", "leaves no processes behind when it exits", pluginProto + "End",
			"end what the plugin started, and wait for it, before it exits"},

		{"advice.descriptions", "describes what its tools are for in enough words for a model", "",
			"say in a few sentences what the tool is for, when not to use it, and what it returns"},
		{"advice.parameters", "explains every parameter", "",
			"give each property a description: what it means, its format, an example"},
		{"advice.schemas", "declares schemas that a call can fit and that every model's API accepts", "",
			"correct the default, enum or list of required names; name parameters with at most 64 of a-z, A-Z, 0-9, _, . and -"},
		{"advice.examples", "shows by an example how each tool is called", "",
			"declare at least one of input_examples; it is also what this command can call the tool with"},
		{"advice.similar", "has one tool for one purpose", "",
			"merge the two, or say in both descriptions when to use which"},
		{"advice.dangerous", "marks as dangerous what sounds so", "",
			"declare `dangerous`, so that a person is asked, or choose a name that does not promise harm"},
		{"advice.read_only", "declares which tools change nothing, or can be repeated", "",
			"declare `read_only` or `idempotent` where it holds: only such calls are tried again, and others are recorded on disk first"},
		{"advice.secrets", "does not ask a model for secrets", "",
			"name the secret in requires_auth: toolhost hands it over, and the model never sees it"},
		{"advice.version", "has a version", "",
			"set the plugin's version: a lock file and operators' events show it"},
	}
}

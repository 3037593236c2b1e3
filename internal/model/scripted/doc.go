// Package scripted is a model that answers from a YAML script, so that demos and tests need no key and no network.
//
// It owns the script's format, which turn answers which request, and how that turn is streamed. It knows nothing of
// tools: what a script calls is the script's affair.
//
// docs/scripted-model.md describes the format for users; a test holds it to this package.
//
// # The script
//
//	turns:
//	  - text: I will read the file.       # optional; a template
//	    calls:                            # optional
//	      - id: read                      # optional; call_TURN_N by default, both counted from 1
//	        tool: read_file
//	        arguments: {path: note.txt}   # a mapping: sent as JSON, keys in order, every string in it a template
//	      - tool: read_file
//	        arguments_raw: '{"path": '    # a template, sent as it is, so that it may be broken JSON
//	        pause_until: /tmp/go          # the last piece of the arguments waits until this file is there; a template
//	    delay: 200ms                      # waited before the first chunk; a duration, or a number of seconds
//	    chunks: 3                         # the pieces that the text and each argument text are streamed in; 1 by default
//	    usage: {input: 900, output: 40}   # the tokens that it took; none by default
//	  - error: {status: 529, retry_after: 1s}
//	  - text: 'The file says: {{result "read"}}'
//	    stop_reason: end_turn             # tool_use by default if there are calls, else end_turn
//	summaries:                            # optional: what the conversation is summed up as, the first time, the second …
//	  - text: note.txt was read.          # like a turn, without calls
//
// Unknown keys are errors. Arguments may also be a string: a template that has to yield JSON.
//
// Templates look like those of text/template and only call functions: {{result "ID"}} (the text of an earlier call's
// result), {{prompt}} (the latest text of the user), {{json VALUE}} (VALUE as JSON, for arguments_raw) and
// {{printf FORMAT VALUE…}}. Calls may stand in parentheses and pipelines. YAML wants a value that begins with
// {{ to be quoted. Pieces never split a character, since JSON could not carry half of one.
//
// # Which turn is next
//
// The conversation alone decides: a request with N assistant messages gets the turn after N answers; those that a summary
// took the place of count, too. A request for a summary gets the next of summaries, and is no answer. So a run that is
// resumed in another process goes on where it was, and any number of runs may use one model at once.
//
// An entry with an error is no answer: it belongs to the turn that follows it and is played before it. Text and calls
// of such an entry are streamed before it fails. How many of a turn's errors a conversation has seen is the one thing
// that is remembered, in memory, by a digest of the conversation, until the turn has answered; then it is forgotten, so
// that the next run sees the errors again. Two conversations that are equal to the letter at the same time share the
// count, and another process starts from none.
package scripted

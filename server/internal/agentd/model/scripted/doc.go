// Package scripted implements model.Model with answers from a YAML script, so that demos and tests
// need neither a key nor a network.
//
// It owns the format of scripts, which turn answers which request, and how a turn is streamed. It
// does not know which tools exist.
//
// docs/scripted-model.md describes the format for users. A test compares it with this package.
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
//	        arguments_raw: '{"path": '    # a template, sent as it is, so that it may be invalid JSON
//	        pause_until: /tmp/go          # the last piece of the arguments waits until this file exists; a template
//	    delay: 200ms                      # before the first chunk; a duration, or a number of seconds
//	    chunks: 3                         # the number of pieces of the text and of each argument text; 1 by default
//	    usage: {input: 900, output: 40}   # the tokens used; none by default
//	  - error: {status: 529, retry_after: 1s}
//	  - text: 'The file says: {{result "read"}}'
//	    stop_reason: end_turn             # tool_use by default if there are calls, else end_turn
//	tasks:                                # optional: turns of their own for conversations, such as those of sub-runs
//	  - prompt: read the note             # a part of the text that the conversation begins with; the first task that fits counts
//	    turns: [{text: It is empty.}]
//	summaries:                            # optional: the first summary of the conversation, the second, …
//	  - text: note.txt was read.          # like a turn, without calls
//	attachments: [image/png, text/*]      # optional: the types of attachments that the model reads; none by default
//
// Unknown keys are errors. Arguments may also be a string: a template whose output must be JSON.
//
// Templates have the syntax of text/template and only call functions: {{result "ID"}} (the text of
// an earlier call's result), {{prompt}} (the latest text of the user), {{attachments}} (the name,
// type, size and SHA-256 of each attachment), {{json VALUE}} (VALUE as JSON, for arguments_raw) and
// {{printf FORMAT VALUE…}}. Calls may be nested in parentheses and pipelines. YAML requires quotes
// around a value that begins with {{. Pieces never split a character, because JSON cannot have half
// of one.
//
// # Which turn is next
//
// Only the conversation decides. A request with N assistant messages receives the turn after N
// answers. Messages that a summary replaced count too. A request for a summary receives the next
// summary, which is not an answer. A run that is resumed in another process therefore continues
// where it was, and any number of runs may use one model at the same time.
//
// An entry with an error is not an answer. It belongs to the turn that follows it and is played
// before it. Text and calls of such an entry are streamed before it fails. The model remembers, in
// memory and by a digest of the conversation, how many errors of a turn a conversation has
// received. It forgets the number when the turn has answered, so that the next run receives the
// errors again. Two equal conversations at the same time share the number. Another process starts
// from zero.
package scripted

// Package yamldoc reads and writes the YAML files of toolhost and agentd.
//
// It reads strictly: it refuses unknown and repeated keys, anchors, aliases, merge keys and tags,
// and each error says where the fault is, what is there and what is allowed. A Decoder reads a file
// into structs; a Node gives access to single values. The package knows the keys of no particular
// file: the packages that own a file define them as structs, or ask a Node for them. It expands no
// variables and does not read the environment.
//
// A Decoder follows these tags of struct fields:
//
//	yaml        the key
//	was         a former name of the key, which is deprecated and works like the key
//	deprecated  what to write in place of the key, which still works
//	default     the value without the key, as the file writes it
//	unset       what happens without the key, for fields without a default; the field is empty then
//	required    any value: the file must have the key
//	zero        the word for 0, where 0 has a special meaning
//	auto        the word for Auto, where the program chooses the value
//	min, max    bounds, as the file writes them
//	oneof       the allowed values, separated by commas
//	is          what a text has to be: address, name, folder, file, path, or a word of Decoder.Checks;
//	            a Decoder makes folders, files and paths absolute
//	keys        what the keys of a mapping have to be: name, or a word of Decoder.Checks
//	hint        what to write instead, for the error of a value of another form
//	conceal     any value: errors never show the values of a mapping, which may be secrets
//	private     any value: Diff does not show the values, which may be secrets
//	short       any value: a text in place of the mapping with the field is the value of the field
//	restart     any value: a running program does not apply a changed value; see KeepRestart
//
// The library goccy/go-yaml parses the text and knows where each value is. Its decoder is not
// enough for files that an operator edits: it stops at the first error, and it knows no defaults,
// no bounds and no former keys. Each file of this package adds one thing that the library lacks:
//
//	parse.go     bounds for the depth and for the keys of a mapping, because the parser's time grows
//	             with their squares, and an error for tabs that the library would drop
//	node.go      a value with its place, for model scripts, whose values may have any form
//	json.go      a value as JSON with the digits of its numbers, for arguments and metadata
//	decode.go    all errors of a file at once, and the places for checks that concern several keys
//	scalar.go    durations, sizes, bounds and defaults: one tag is read, checked and documented
//	describe.go  what a key allows, in the same words for errors and documentation
//	keys.go      the key or word that the user probably meant
//	inside.go    the place of a character in a text: `config check` points into a rule's expression
//	insert.go    one more key in a file whose comments stay, for `toolhost mcp add`
//	write.go     a file with all defaults, for `config show`
//	diff.go      the settings that differ, for `config diff` and reloads
package yamldoc

// Auto is the value of a number that the program chooses. The tag auto names the word for it.
const Auto = -1

// MaxConfigBytes bounds a configuration file.
const MaxConfigBytes = 256 << 10

// Package docs tests the pages of docs/, the README, and those of examples/: what they tell people to type is typed, page by
// page, in a folder of its own, and what they show as printed is compared with what is printed.
//
// A page's fenced blocks are executed in order. Their info strings say how:
//
//	sh            a script, run to its end; it must succeed
//	sh exit=N     a script whose last command must end with that exit code
//	sh serve      one command that is left running until the end of the page, or until the next of the kind
//	sh no-run     shown only, because it needs what a test must not use, such as a key or a terminal
//	output        what the script before it must print: a line of three dots stands for any lines, and … for any text
//	LANG FILE     the content of a file, written where the page is executed
//	LANG          shown only
//
// The package owns no command and no text: what people read is what is tested.
package docs

// Package docs tests the pages of docs/ and the READMEs of examples/: what they tell people to type is typed, page by
// page, in a folder of its own, and what they show as printed is compared with what is printed.
//
// A page's fenced blocks are executed in order. Their info strings say how:
//
//	sh            a script, run to its end; it must succeed, unless the line `exit: N` follows the word
//	sh serve      one command that is left running until the end of the page
//	sh no-run     shown only, because it needs what a test must not use, such as a key or the system's services
//	output        what the script before it must print; a line of three dots stands for any number of lines
//	LANG FILE     the content of a file, written where the page is executed
//	LANG          shown only
//
// It owns no command and no text: what people read is what is tested.
package docs

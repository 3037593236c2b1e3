// Package docs tests the pages of docs/, the README, and the pages of examples/. It executes the
// commands of each page in a separate folder and compares the printed output with the output that
// the page shows.
//
// The tests execute the fenced blocks of a page in order. The info string of a block says how:
//
//	sh            a script, run to its end; it must succeed
//	sh exit=N     a script whose last command must end with that exit code
//	sh serve      one command that runs until the end of the page, or until the next such
//	              block for the same program
//	sh on=MACHINE a script on another machine, which TestPagesOnMachines makes with a network namespace
//	sh no-run     shown only, because it needs what a test must not use, such as a key or a terminal
//	output        the output of the script before it; a line of three dots matches any lines,
//	              and … matches any text
//	LANG FILE     the content of a file, written to the folder of the page; also with on=MACHINE
//	LANG          shown only
//
// The package contains no commands and texts of pages: it tests what people read.
package docs

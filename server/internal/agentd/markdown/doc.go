// Package markdown shows Markdown in a terminal.
//
// A model writes the text, and a tool can influence it. So the package shows each character of the
// text as package cli escapes it: no text controls the terminal, and a link always shows its
// destination. What one block can cost is bounded.
package markdown

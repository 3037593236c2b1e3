package commands

import "testing"

// A line about a call that was made has the command, or the only argument, as a person reads it.
func TestArgumentsInBrief(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"ls -l","timeout_seconds":120}`: "$ ls -l",
		`{"timeout_seconds":120,"cmd":"ls"}`:        "$ ls",
		`{"path":"a.txt"}`:                          "a.txt",
		`{"path":"a.txt","line":3}`:                 `{"path":"a.txt","line":3}`,
		`{"command":["ls"]}`:                        `{"command":["ls"]}`,
		`{"count":3}`:                               `{"count":3}`,
		`{"command":""}`:                            `{"command":""}`,
		`{}`:                                        `{}`,
		`{"command":"ls`:                            `{"command":"ls`,
		``:                                          ``,
	} {
		if got := briefly(arguments); got != want {
			t.Errorf("%s is %q, want %q", arguments, got, want)
		}
	}
}

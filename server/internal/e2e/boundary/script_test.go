package boundary_test

import (
	"fmt"
	"strings"
)

// ask is a tool call as the model writes it.
type ask struct {
	id, tool, arguments string
}

// turns returns the tool calls of each turn of the model. The last turn is text without calls.
// found contains the results that the model has read, by call id. Some turns repeat results, so
// that a lost result shows in the requests.
func turns(found map[string]string) [][]ask {
	const missing = "counterplugin_missing"
	about := func(tool string, keys ...string) (asks []ask) {
		for _, key := range keys {
			asks = append(asks, ask{tool: "counterplugin_" + tool, arguments: fmt.Sprintf(`{"key":%q}`, key)})
		}
		return asks
	}
	list := [][]ask{
		join(about("read", "a", "b"), about("write", "c")),
		join(about("slow", "d"), about("write", "e"), about("read", "f")),
		join(about("fail", "g"), about("write", "h")),
		about("drop", "approve i"),
		join(about("slow", "j", "k"), about("fail", "l"), about("read", "m")),
		join(about("stall", "n"), about("write", "o")),
		join(about("write", "p"), about("serial", "q"), about("read", "r")),
		join([]ask{{tool: missing, arguments: `{}`}}, about("write", "s")),
		join(about("drop", "edit t"), about("write", "u")),
		join(about("drop", "reject v"), about("read", "w")),
		join([]ask{{tool: "counterplugin_write", arguments: `{"key": `}}, about("slow", "x")),
		about("write", "y1", "y2", "y3", "y4"),
		about("read", found["call_1_0"]),
		join(about("drop", "approve z", "reject aa"), about("slow", "bb")),
		join(about("stall", "cc"), about("slow", "dd"), about("read", "ee")),
		join(about("serial", "ff"), about("slow", "gg")),
		about("fail", "hh", "ii"),
		join([]ask{{tool: "counterplugin_read", arguments: `{"name":1}`}}, about("slow", "jj"), about("drop", "edit kk")),
		about("write", found["call_13_0"]),
		about("slow", "ll", "mm"),
		about("read", "nn"),
		nil,
	}
	for turn := range list {
		for i := range list[turn] {
			list[turn][i].id = fmt.Sprintf("call_%d_%d", turn+1, i)
		}
	}
	return list
}

// countingStory is the script of the run that TestEveryBoundary disturbs.
func countingStory(_ string, found map[string]string) (list [][]ask, last string, base int) {
	return turns(found), lastWords(found), 0
}

// lastWords returns the final text of the model.
func lastWords(found map[string]string) string {
	return "done: " + found["call_13_0"] + ", " + found["call_21_0"]
}

func join(lists ...[]ask) (joined []ask) {
	for _, list := range lists {
		joined = append(joined, list...)
	}
	return joined
}

// mayNotBegin reports whether calls of the tool are meant to time out. Such a call may time out
// before its tool has begun.
func mayNotBegin(tool string) bool { return strings.HasSuffix(tool, "_stall") }

// mayHappenTwice reports whether the tool has no side effects, so that toolhost may execute a lost
// call again.
func mayHappenTwice(tool string) bool { return strings.HasSuffix(tool, "_read") }
